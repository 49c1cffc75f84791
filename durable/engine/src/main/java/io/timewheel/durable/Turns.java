// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import java.util.ArrayDeque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Runs work on an executor that may run it on the calling thread, as {@code Runnable::run} always
 * does and a full pool with {@code CallerRunsPolicy} at times. Work that comes while such a thread
 * is at work waits until that is over, and does not run inside it: one commit asks for the next,
 * and a long row of them must not fill the stack.
 *
 * <p>An executor that drops a task tells nobody, and what waits for it would wait for ever: so what
 * has not begun for long is said, and handed over again.
 */
final class Turns {
  private static final System.Logger LOG = GuardedLog.LOG;

  /** How many tasks an upkeep hands over again at most. */
  private static final int MAX_AGAIN = 100;

  /** Of this engine alone: its work must not wait behind that of another one. */
  @SuppressWarnings("ThreadLocalUsage") // the value is removed when the work is over
  private final ThreadLocal<@Nullable ArrayDeque<Runnable>> waiting = new ThreadLocal<>();

  /** What no thread has begun yet. */
  private final Set<Task> handedOver = ConcurrentHashMap.newKeySet();

  /** Work that begins once, however often its executor is given it. */
  private final class Task implements Runnable {
    private final Executor executor;
    private final Runnable work;
    private final AtomicBoolean begun = new AtomicBoolean();

    /** Used by {@link #upkeep} alone. */
    private int upkeeps;

    Task(Executor executor, Runnable work) {
      this.executor = executor;
      this.work = work;
    }

    @Override
    public void run() {
      if (takeUp()) {
        Turns.this.run(work);
      }
    }

    boolean takeUp() {
      handedOver.remove(this);
      return !begun.getAndSet(true);
    }
  }

  /** Throws what the executor throws, if the work will not run; what it runs all the same, runs. */
  void execute(Executor executor, Runnable work) {
    Task task = new Task(executor, work);
    handedOver.add(task);
    try {
      executor.execute(task);
    } catch (RuntimeException | Error e) {
      if (task.takeUp()) {
        throw e;
      }
    }
  }

  /**
   * Hands over again what has waited since the upkeep before: ever more seldom, if it is slow; and
   * only some of a backlog, since the executor may run it here, on the thread of the wheel.
   */
  void upkeep() {
    int late = 0;
    int again = 0;
    for (Task task : handedOver) {
      if (task.upkeeps > 0) {
        late++;
      }
      boolean isDue = Integer.bitCount(task.upkeeps) == 1;
      if (isDue && again == MAX_AGAIN) {
        continue; // with the next upkeep
      }
      task.upkeeps++;
      if (isDue) {
        again++;
        handOverAgain(task);
      }
    }
    if (late > 0) {
      LOG.log(
          System.Logger.Level.WARNING,
          "{0} tasks have waited for the store''s executor for over a minute: is it full, or does"
              + " it drop tasks?",
          late);
    }
  }

  private static void handOverAgain(Task task) {
    try {
      task.executor.execute(task);
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.DEBUG, "the store's executor refuses a task again", e);
    }
  }

  private void run(Runnable work) {
    ArrayDeque<Runnable> behind = waiting.get();
    if (behind != null) {
      behind.add(work);
      return;
    }
    ArrayDeque<Runnable> mine = new ArrayDeque<>();
    waiting.set(mine);
    try {
      for (Runnable next = work; next != null; next = mine.poll()) {
        try {
          next.run();
        } catch (RuntimeException | Error e) {
          LOG.log(System.Logger.Level.ERROR, "store work threw", e); // what waits must still run
        }
      }
    } finally {
      waiting.remove();
    }
  }
}
