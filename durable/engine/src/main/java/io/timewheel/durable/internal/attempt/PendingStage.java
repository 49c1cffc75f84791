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
 * The stage that an attempt waits for. It ends the attempt once, when it completes or is given up,
 * whatever comes first and however often.
 */
final class PendingStage {
  private static final System.Logger LOG = GuardedLog.LOG;

  /** More than the engine takes to note an end, classes that are loaded meanwhile included. */
  private static final int FRAMES = 1_000;

  private final Executor userCode;
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private volatile @Nullable CompletableFuture<?> stage;

  /**
   * @param userCode runs what listens for the stage to be cancelled
   * @param onEnd is called once, at the end, with its error if it has one
   */
  PendingStage(Executor userCode, Consumer<@Nullable Throwable> onEnd) {
    this.userCode = userCode;
    var unused = end.whenComplete((nothing, error) -> onEnd.accept(error));
  }

  /** Ends with a stage. */
  void waitFor(@Nullable CompletionStage<?> started) {
    CompletableFuture<?> future;
    try {
      future = requireNonNull(started, "the handler returned null").toCompletableFuture();
      stage = future;
      listen(future);
    } catch (Throwable e) { // no stage, or a strange one
      end.completeExceptionally(e);
      return;
    }
    if (end.isDone()) {
      cancel(); // it was given up before it was here
    }
  }

  private void listen(CompletableFuture<?> future) {
    var unused = future.whenComplete((result, error) -> complete(error));
  }

  /**
   * A stack that is nearly full, and runs over here, has the stage swallow that: the end is still
   * to come, with the next {@link #look}. Further on it would leave the engine half changed.
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

  /** Ends if the stage is complete and nobody has said so. */
  void look() {
    CompletableFuture<?> future = stage;
    if (future != null && future.isDone()) {
      listen(future);
    }
  }

  /** Ends with an error, unless the stage is complete, without waiting any longer. */
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
