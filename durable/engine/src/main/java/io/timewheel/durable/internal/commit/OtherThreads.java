// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Wraps an executor of the application so that a task never runs on the submitting thread. The
 * submitting thread may be the one that commits, while the task is a handler that waits for a
 * commit. Or it is the thread of the wheel, which must not wait for the store. If the executor runs
 * a task on the submitting thread, the task does nothing and counts as rejected. {@code
 * Runnable::run} always does this, and a full pool with {@code CallerRunsPolicy} sometimes. A
 * rejected task never runs, even if the executor accepts it and then throws.
 */
public final class OtherThreads implements Executor {
  private final String name;
  private final Executor executor;

  /**
   * @param name the name of the executor in messages
   */
  public OtherThreads(String name, Executor executor) {
    this.name = name;
    this.executor = executor;
  }

  /** Throws an IllegalArgumentException if the executor runs tasks on the calling thread. */
  public void check() {
    try {
      execute(() -> {});
    } catch (CallerRunsException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    } catch (RuntimeException | Error e) {
      // It accepts no task at present, so later tasks wait.
    }
  }

  @Override
  public void execute(Runnable work) {
    Task task = new Task(work);
    try {
      executor.execute(task);
    } catch (RuntimeException | Error e) {
      if (!task.taken.getAndSet(true)) {
        throw e;
      }
    } finally {
      task.handedBy = null;
    }
    if (task.ranByCaller && !task.taken.getAndSet(true)) {
      throw new CallerRunsException(name, executor);
    }
  }

  /** Thrown if the executor ran a task on the calling thread, where the task did nothing. */
  private static final class CallerRunsException extends RejectedExecutionException {
    private static final long serialVersionUID = 1;

    CallerRunsException(String name, Executor executor) {
      super(
          name
              + ": "
              + executor.getClass().getName()
              + " runs tasks on the calling thread (expected: other threads, or a"
              + " RejectedExecutionException)");
    }
  }

  /** A task that runs once, and not on the submitting thread during the submission. */
  private static final class Task implements Runnable {
    private final Runnable work;
    private final AtomicBoolean taken = new AtomicBoolean();
    private volatile @Nullable Thread handedBy = Thread.currentThread();
    private boolean ranByCaller;

    Task(Runnable work) {
      this.work = work;
    }

    @Override
    public void run() {
      if (handedBy == Thread.currentThread()) {
        ranByCaller = true;
      } else if (!taken.getAndSet(true)) {
        work.run();
      }
    }
  }
}
