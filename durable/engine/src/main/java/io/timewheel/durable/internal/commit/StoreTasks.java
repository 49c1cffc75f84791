// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import io.timewheel.durable.internal.health.GuardedLog;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs the work that may block on the store, on three executors: reads of due timers, maintenance,
 * and claims of consumers. Due timers must not wait for maintenance.
 *
 * <p>If an executor silently drops a task, the submitting part waits forever. Therefore each
 * maintenance pass reports tasks that have not begun for a long time.
 */
public final class StoreTasks {
  private static final System.Logger LOG = GuardedLog.LOG;

  /** The wait before a rejected task is submitted again. */
  private static final Duration REFUSED_WAIT = Duration.ofSeconds(1);

  private final Executors executors;
  private final Delays delays;
  private volatile boolean closed;

  /** The submitted tasks that no thread has begun. */
  private final Set<Task> handedOver = ConcurrentHashMap.newKeySet();

  /** The executors of each kind of work; they may be the same. */
  public record Executors(Executor reads, Executor maintenance, Executor claims) {}

  public StoreTasks(Executors executors, Delays delays) {
    this.executors = executors;
    this.delays = delays;
  }

  /**
   * Runs work that reads due timers. If the executor rejects it, it is submitted again after a
   * second.
   *
   * @return false if it will not run, because the engine is closed or its wheel was stopped
   */
  public boolean read(Runnable work) {
    return executeOrWait(executors.reads, work);
  }

  /** Runs work that may take long, as {@link #read} does. */
  public boolean maintain(Runnable work) {
    return executeOrWait(executors.maintenance, work);
  }

  /** Runs claims of consumers, as {@link #read} does. */
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

  /** Submits work. Throws the exception of the executor if it rejects the work. */
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

  /** Drops rejected work, because the engine closes. */
  public void close() {
    closed = true;
  }

  public boolean isClosed() {
    return closed;
  }

  /** Reports the tasks that have waited for an executor since the previous maintenance pass. */
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

  /** Work that begins at most once, even if an executor accepts it and then throws. */
  private final class Task implements Runnable {
    private final Runnable work;
    private final AtomicBoolean begun = new AtomicBoolean();

    /** True if a maintenance pass has seen it. */
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
