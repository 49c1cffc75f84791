// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import org.jspecify.annotations.Nullable;

/**
 * Notified of what user code and executors throw at a pattern. The pattern goes on all the same.
 * The default logs a warning that names the pattern and the key.
 */
@FunctionalInterface
public interface PatternErrorHandler {
  /**
   * Handles an error, on the thread on which it was thrown. What this method throws is logged.
   *
   * @param pattern the class of the pattern, such as {@code Leases.class}
   * @param key the key in question; the list of them if it was a batch; null if it was none in
   *     particular
   * @param error what was thrown
   */
  void handle(Class<?> pattern, @Nullable Object key, Throwable error);
}
