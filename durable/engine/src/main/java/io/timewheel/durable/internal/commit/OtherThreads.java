// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * An executor of the user that never runs a task on the thread that hands it over. That thread may
 * be committing, and a handler on it may wait for a commit; or it is the wheel's, which must not
 * wait for the store. An executor that does so, as {@code Runnable::run} always does and a full
 * pool with {@code CallerRunsPolicy} at times, is taken for one that rejects the task, whatever it
 * does with what a task throws.
 */
public final class OtherThreads implements Executor {
  private final String name;
  private final Executor executor;

  /**
   * @param name the name that the user knows it by
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
      // It takes no task at present: its tasks wait.
    }
  }

  @Override
  public void execute(Runnable work) {
    Task task = new Task(work);
    try {
      executor.execute(task);
    } finally {
      task.handedBy = null;
    }
    if (task.ranByCaller) {
      throw new CallerRunsException(name, executor);
    }
  }

  /** The executor has run a task on the calling thread, where the task did nothing. */
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

  /** A task that knows the thread that hands it over, until that is done. */
  private static final class Task implements Runnable {
    private final Runnable work;
    private volatile @Nullable Thread handedBy = Thread.currentThread();
    private boolean ranByCaller;

    Task(Runnable work) {
      this.work = work;
    }

    @Override
    public void run() {
      if (handedBy == Thread.currentThread()) {
        ranByCaller = true;
      } else {
        work.run();
      }
    }
  }
}
