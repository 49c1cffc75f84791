// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import io.timewheel.durable.internal.health.GuardedLog;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

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

  /** The runnables that a close runs instead of rejected tasks. */
  private final Set<Runnable> toDrop = ConcurrentHashMap.newKeySet();

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
    return executeOrWait(executors.reads, work, null);
  }

  /** Runs work that may take long, as {@link #read} does. */
  public boolean maintain(Runnable work) {
    return executeOrWait(executors.maintenance, work, null);
  }

  /**
   * Runs work that may take long.
   *
   * @param dropped runs instead if this returned true, and the engine closes while the executor
   *     still rejects the work
   */
  public boolean maintain(Runnable work, Runnable dropped) {
    return executeOrWait(executors.maintenance, work, dropped);
  }

  /** Runs claims of consumers, as {@link #read} does. */
  public boolean claim(Runnable work) {
    return executeOrWait(executors.claims, work, null);
  }

  private boolean executeOrWait(Executor executor, Runnable work, @Nullable Runnable dropped) {
    try {
      execute(executor, work);
      return true;
    } catch (RuntimeException | Error e) {
      return !closed && executeLater(executor, work, dropped, e);
    }
  }

  private boolean executeLater(
      Executor executor, Runnable work, @Nullable Runnable dropped, Throwable refusal) {
    LOG.log(System.Logger.Level.WARNING, "the store's executor refuses work", refusal);
    if (dropped != null) {
      toDrop.add(dropped);
    }
    try {
      delays.start(() -> executeAgain(executor, work, dropped), REFUSED_WAIT);
    } catch (IllegalStateException e) {
      return dropped != null && !toDrop.remove(dropped);
    }
    if (closed) {
      dropAll();
    }
    return true;
  }

  private void executeAgain(Executor executor, Runnable work, @Nullable Runnable dropped) {
    if (dropped != null && !toDrop.remove(dropped)) {
      return;
    }
    if (!executeOrWait(executor, work, dropped) && dropped != null) {
      dropped.run();
    }
  }

  private void dropAll() {
    for (Runnable dropped : List.copyOf(toDrop)) {
      if (toDrop.remove(dropped)) {
        dropped.run();
      }
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
    dropAll();
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
