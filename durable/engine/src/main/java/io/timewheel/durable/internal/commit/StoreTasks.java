// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import io.timewheel.durable.internal.health.GuardedLog;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The work of the engine that may block on the store, on its three executors: reads of due timers,
 * upkeep, which due timers must not wait for, and claims of consumers.
 *
 * <p>An executor that drops a task tells nobody, and the part that handed it over waits for ever.
 * So an upkeep reports tasks that have not begun for long.
 */
public final class StoreTasks {
  private static final System.Logger LOG = GuardedLog.LOG;

  /** The wait of a task that an executor refuses. */
  private static final Duration REFUSED_WAIT = Duration.ofSeconds(1);

  private final Executors executors;
  private final Delays delays;
  private volatile boolean closed;

  /** The tasks that no thread has begun yet. */
  private final Set<Task> handedOver = ConcurrentHashMap.newKeySet();

  /** The executors of each kind of work; they may be the same. */
  public record Executors(Executor reads, Executor upkeep, Executor claims) {}

  public StoreTasks(Executors executors, Delays delays) {
    this.executors = executors;
    this.delays = delays;
  }

  /**
   * Reads due timers; in a second, if the executor refuses it.
   *
   * @return false if it will not be done: the engine is closed, or its wheel was stopped
   */
  public boolean read(Runnable work) {
    return executeOrWait(executors.reads, work);
  }

  /** The same for work that may take long. */
  public boolean upkeep(Runnable work) {
    return executeOrWait(executors.upkeep, work);
  }

  /** The same for the claims of consumers. */
  public boolean claim(Runnable work) {
    return executeOrWait(executors.claims, work);
  }

  private boolean executeOrWait(Executor executor, Runnable work) {
    try {
      execute(executor, work);
      return true;
    } catch (RuntimeException | Error e) {
      return !closed && executeLater(executor, work, e);
    }
  }

  private boolean executeLater(Executor executor, Runnable work, Throwable refusal) {
    LOG.log(System.Logger.Level.WARNING, "the store's executor refuses work", refusal);
    try {
      delays.start(() -> executeOrWait(executor, work), REFUSED_WAIT);
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  /** Throws the exception of the executor if the work will not run. */
  void execute(Executor executor, Runnable work) {
    Task task = new Task(work);
    handedOver.add(task);
    try {
      executor.execute(task);
    } catch (RuntimeException | Error e) {
      if (task.takeUp()) {
        throw e;
      }
    }
  }

  /** Lets refused work go: the engine closes. */
  public void close() {
    closed = true;
  }

  public boolean isClosed() {
    return closed;
  }

  /** Reports the tasks that have waited for an executor since the upkeep before. */
  public void reportWaiting() {
    long late = handedOver.stream().filter(Task::isLate).count();
    if (late > 0) {
      LOG.log(
          System.Logger.Level.WARNING,
          "{0} tasks have waited for the store''s executor for over a minute: is it full, or does"
              + " it drop tasks?",
          late);
    }
  }

  /** Work that begins once, though an executor may take it and then throw. */
  private final class Task implements Runnable {
    private final Runnable work;
    private final AtomicBoolean begun = new AtomicBoolean();

    /** Whether an upkeep has seen it. */
    private boolean seen;

    Task(Runnable work) {
      this.work = work;
    }

    @Override
    public void run() {
      if (!takeUp()) {
        return;
      }
      try {
        work.run();
      } catch (RuntimeException | Error e) {
        LOG.log(System.Logger.Level.ERROR, "store work threw", e);
      }
    }

    boolean takeUp() {
      handedOver.remove(this);
      return !begun.getAndSet(true);
    }

    boolean isLate() {
      boolean late = seen;
      seen = true;
      return late;
    }
  }
}
