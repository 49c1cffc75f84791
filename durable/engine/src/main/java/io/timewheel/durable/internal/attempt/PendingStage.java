// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.health.GuardedLog;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The stage for which an attempt waits. It ends the attempt exactly once, when the stage completes
 * or is given up, whichever is first.
 */
final class PendingStage {
  private static final System.Logger LOG = GuardedLog.LOG;

  /**
   * The number of stack frames that a check reserves: more than the engine needs to record a
   * completion, including class loading.
   */
  private static final int FRAMES = 1_000;

  private final Executor userCode;
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private volatile @Nullable CompletableFuture<?> stage;

  /**
   * @param userCode runs dependent stages of the application when the stage is cancelled
   * @param onEnd called once at the end, with the error or null
   */
  PendingStage(Executor userCode, Consumer<@Nullable Throwable> onEnd) {
    this.userCode = userCode;
    var unused = end.whenComplete((nothing, error) -> onEnd.accept(error));
  }

  /** Sets the stage whose completion ends the attempt. */
  void waitFor(@Nullable CompletionStage<?> started) {
    CompletableFuture<?> future;
    try {
      future = requireNonNull(started, "the handler returned null").toCompletableFuture();
      stage = future;
      listen(future);
    } catch (Throwable e) { // null, or a faulty implementation
      end.completeExceptionally(e);
      return;
    }
    if (end.isDone()) {
      cancel(); // it was given up before the stage was set
    }
  }

  private void listen(CompletableFuture<?> future) {
    var unused = future.whenComplete((result, error) -> complete(error));
  }

  /**
   * Records the completion. If the stack overflows in this method, the stage discards the error,
   * and the next {@link #look} ends the attempt. A later overflow would leave the engine in an
   * inconsistent state.
   */
  private void complete(@Nullable Throwable error) {
    touchStack(FRAMES);
    if (error == null) {
      end.complete(null);
    } else {
      Throwable cause = error.getCause();
      end.completeExceptionally(
          error instanceof CompletionException && cause != null ? cause : error);
    }
  }

  private static int touchStack(int frames) {
    return frames == 0 ? 0 : 1 + touchStack(frames - 1);
  }

  /** Ends the attempt if the stage is complete and its notification was lost. */
  void look() {
    CompletableFuture<?> future = stage;
    if (future != null && future.isDone()) {
      listen(future);
    }
  }

  /** Ends the attempt at once with an error, unless the stage is complete. */
  void giveUp(Throwable why) {
    look();
    if (end.completeExceptionally(why)) {
      cancel();
    }
  }

  private void cancel() {
    CompletableFuture<?> future = stage;
    if (future != null && !future.isDone()) {
      userCode.execute(() -> cancel(future));
    }
  }

  private static void cancel(CompletableFuture<?> future) {
    try {
      future.cancel(true);
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.WARNING, "a stage cannot be cancelled", e);
    }
  }
}
