// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

/**
 * Thrown if a payload cannot be decoded. Its message and its cause may contain parts of the
 * payload, so the log contains only its class. The history of the timer contains the message.
 */
public final class UnreadablePayloadException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  /**
   * Creates the exception.
   *
   * @param type the expected type
   * @param cause the reason
   */
  public UnreadablePayloadException(Class<?> type, Exception cause) {
    super("payload: cannot be read as " + type.getName() + ": " + cause.getMessage(), cause);
  }
}
