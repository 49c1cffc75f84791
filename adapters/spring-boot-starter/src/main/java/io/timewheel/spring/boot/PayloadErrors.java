// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import org.jspecify.annotations.Nullable;

/**
 * Makes the exceptions for invalid payloads. A store keeps only the text of an exception, so the
 * text includes the cause.
 */
final class PayloadErrors {
  private PayloadErrors() {}

  static IllegalArgumentException unwritable(Object payload, Exception e) {
    return new IllegalArgumentException(
        "payload: a " + payload.getClass().getName() + " cannot be written: " + e.getMessage(), e);
  }

  static <T> T present(@Nullable T payload, Class<T> type) {
    if (payload == null) {
      throw new IllegalArgumentException("payload: null (expected: a " + type.getName() + ")");
    }
    return payload;
  }
}
