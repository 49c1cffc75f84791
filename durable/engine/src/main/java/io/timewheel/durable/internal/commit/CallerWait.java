// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import io.timewheel.TimeSource;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import io.timewheel.durable.model.TimerClosedException;
import io.timewheel.durable.spi.StepExecutor;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Defines how the thread of a caller waits for the engine. It parks, or, with a {@link
 * StepExecutor}, it runs the tasks of the executor while it waits, because there is no other
 * thread.
 */
public abstract class CallerWait {
  private CallerWait() {}

  /**
   * {@return the way to wait for work on an executor}
   *
   * @param storeExecutor the executor of the application; null for threads of the scheduler
   */
  public static CallerWait on(@Nullable Executor storeExecutor) {
    return storeExecutor instanceof StepExecutor steps ? new Stepping(steps) : new Parking();
  }

  /** {@return whether other threads make progress while a thread waits} */
  public abstract boolean hasOtherThreads();

  /** Waits for a future. Throws its failure with the stack trace of the caller. */
  public <T> T await(CompletableFuture<T> future) {
    try {
      return future.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DurableTimerException(
          Reason.UNKNOWN,
          0,
          "interrupted while waiting for the store: the change may be committed or not",
          e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof DurableTimerException failure) {
        throw new DurableTimerException(
            failure.reason(),
            failure.version(),
            String.valueOf(failure.getMessage()),
            failure.getCause());
      }
      if (e.getCause() instanceof TimerClosedException closed) {
        throw new TimerClosedException(String.valueOf(closed.getMessage()), closed);
      }
      if (e.getCause() instanceof IllegalStateException failure) {
        throw new IllegalStateException(failure.getMessage(), failure);
      }
      throw new CompletionException(e.getCause());
    }
  }

  /** Waits until a condition is true, but no longer than a limit. */
  public abstract void until(BooleanSupplier condition, long limitMillis)
      throws InterruptedException;

  private static final class Parking extends CallerWait {
    private static final long LOOK_MILLIS = 5;

    @Override
    public boolean hasOtherThreads() {
      return true;
    }

    @Override
    public void until(BooleanSupplier condition, long limitMillis) throws InterruptedException {
      TimeSource time = TimeSource.system();
      long begunNanos = time.nanoTime();
      while (!condition.getAsBoolean()
          && TimeUnit.NANOSECONDS.toMillis(time.nanoTime() - begunNanos) < limitMillis) {
        Thread.sleep(LOOK_MILLIS);
      }
    }
  }

  private static final class Stepping extends CallerWait {
    private final StepExecutor steps;

    Stepping(StepExecutor steps) {
      this.steps = steps;
    }

    @Override
    public boolean hasOtherThreads() {
      return false;
    }

    @Override
    public <T> T await(CompletableFuture<T> future) {
      until(future::isDone, 0);
      if (!future.isDone()) {
        throw new IllegalStateException(
            "the store has not answered, and nothing is left to run: move the clock");
      }
      return super.await(future);
    }

    @Override
    public void until(BooleanSupplier condition, long limitMillis) {
      while (!condition.getAsBoolean() && steps.runOne()) {
        // The condition may become true in the next step.
      }
    }
  }
}
