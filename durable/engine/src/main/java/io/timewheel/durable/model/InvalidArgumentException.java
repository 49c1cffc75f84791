// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import org.jspecify.annotations.Nullable;

/**
 * Thrown for an invalid argument. The message names the argument, its value and the expected
 * values. Any other {@link IllegalArgumentException} is a bug of Timewheel.
 */
public final class InvalidArgumentException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  /**
   * Creates the exception.
   *
   * @param message the argument, its value and the expected values
   */
  public InvalidArgumentException(String message) {
    super(message);
  }

  /**
   * Creates the exception.
   *
   * @param message the argument, its value and the expected values
   * @param cause the reason
   */
  public InvalidArgumentException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
