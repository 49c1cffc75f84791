// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import io.timewheel.durable.model.Attempt;
import org.jspecify.annotations.Nullable;

/** Limits error texts, so that a record with a hundred failed attempts stays small. */
final class ErrorTexts {
  private static final int MAX_LATEST = 4_000;
  private static final int MAX_EARLIER = 200;

  private ErrorTexts() {}

  /** {@return the text, cut to 4,000 characters} */
  static @Nullable String latest(@Nullable String error) {
    return error == null ? null : cut(error, MAX_LATEST);
  }

  /** {@return an attempt that is followed by another failure, its text cut to 200 characters} */
  static Attempt earlier(Attempt attempt) {
    String error = attempt.error();
    return error == null || error.length() <= MAX_EARLIER
        ? attempt
        : new Attempt(
            attempt.number(),
            attempt.scheduledAtMillis(),
            attempt.beganAtMillis(),
            attempt.endedAtMillis(),
            attempt.end(),
            cut(error, MAX_EARLIER));
  }

  private static String cut(String text, int max) {
    if (text.length() <= max) {
      return text;
    }
    return text.substring(0, Character.isHighSurrogate(text.charAt(max - 1)) ? max - 1 : max);
  }
}
