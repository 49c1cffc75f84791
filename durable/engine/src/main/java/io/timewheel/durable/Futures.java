// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Waits for futures, and throws what failed them as it is. */
final class Futures {
  private Futures() {}

  static <T> T join(CompletableFuture<T> future) {
    try {
      return future.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof DurableTimerException failure) {
        throw new DurableTimerException(
            failure.reason(), failure.version(), String.valueOf(failure.getMessage()), failure);
      }
      if (e.getCause() instanceof IllegalStateException failure) {
        throw new IllegalStateException(failure.getMessage(), failure);
      }
      throw e;
    }
  }
}
