// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import org.jspecify.annotations.Nullable;

/**
 * Notified of what user code and executors throw at a pattern. The pattern carries on. The default
 * logs a warning that names the pattern, and not the key, which may be a secret.
 */
@FunctionalInterface
public interface PatternErrorHandler {
  /**
   * Handles an error, on the thread that threw it. What this method throws is logged.
   *
   * @param pattern the simple name of the pattern's class, such as {@code Leases}
   * @param key the key in question; the list of them if it was a batch; null if it was none in
   *     particular
   * @param error what was thrown
   */
  void handle(String pattern, @Nullable Object key, Throwable error);
}
