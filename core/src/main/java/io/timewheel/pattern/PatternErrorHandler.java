// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import org.jspecify.annotations.Nullable;

/**
 * Receives the exceptions and errors that user code and executors throw to a pattern. The pattern
 * continues. The default handler logs a warning that contains the name of the pattern. It does not
 * log the key, which may be a secret.
 */
@FunctionalInterface
public interface PatternErrorHandler {
  /**
   * Handles an error, on the thread that threw it. An exception of this method is logged.
   *
   * @param pattern the simple name of the pattern's class, such as {@code Leases}
   * @param key the key; a list of keys for a batch; null if the error belongs to no particular key
   * @param error the exception or error
   */
  void handle(String pattern, @Nullable Object key, Throwable error);
}
