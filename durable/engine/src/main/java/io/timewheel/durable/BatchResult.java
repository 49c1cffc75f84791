// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import org.jspecify.annotations.Nullable;

/**
 * The result of one item of a batch: a value or an error.
 *
 * @param key the timer
 * @param result the result, or null
 * @param error the error, or null
 * @param <T> the type of the result
 */
public record BatchResult<T>(TimerKey key, @Nullable T result, @Nullable RuntimeException error) {
  /**
   * Checks that there is a key.
   *
   * @param key the timer
   * @param result the result, or null
   * @param error the error, or null
   */
  public BatchResult {
    requireNonNull(key, "key");
  }

  /**
   * Returns the result, or throws the error.
   *
   * @return the result
   * @throws RuntimeException the error, if there is no result
   */
  public T orThrow() {
    if (error != null) {
      throw error;
    }
    return requireNonNull(result);
  }
}
