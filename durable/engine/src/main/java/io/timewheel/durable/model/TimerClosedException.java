// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by calls of a closed durable timer. Any other {@link IllegalStateException} is a bug of
 * Timewheel.
 */
public final class TimerClosedException extends IllegalStateException {
  private static final long serialVersionUID = 1;

  /**
   * Creates the exception.
   *
   * @param message the reason
   * @param cause the same failure on another thread; or null
   */
  public TimerClosedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
