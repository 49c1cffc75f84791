// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Waits for futures, and throws what failed them, with the stack of the caller. */
final class Futures {
  private Futures() {}

  static <T> T join(CompletableFuture<T> future) {
    try {
      return future.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DurableTimerException(
          Reason.UNKNOWN, 0, "interrupted while it waited for the store: done, or not", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof DurableTimerException failure) {
        throw new DurableTimerException(
            failure.reason(),
            failure.version(),
            String.valueOf(failure.getMessage()),
            failure.getCause());
      }
      if (e.getCause() instanceof IllegalStateException failure) {
        throw new IllegalStateException(failure.getMessage(), failure);
      }
      throw new CompletionException(e.getCause());
    }
  }
}
