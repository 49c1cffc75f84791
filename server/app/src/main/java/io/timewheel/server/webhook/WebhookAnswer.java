// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The answer of a target.
 *
 * @param retryAfter the delay that the target asks for; null for none
 * @param text the beginning of the body
 */
public record WebhookAnswer(int status, @Nullable Duration retryAfter, String text) {
  private static final Duration MAX_RETRY_AFTER = Duration.ofDays(1);
  private static final Pattern SECONDS = Pattern.compile("\\d{1,9}");

  /** The meaning of an answer for a timer. */
  public enum Meaning {
    /** The target accepted the message. */
    DONE,
    /** The target no longer exists; no retry follows. */
    GONE,
    /** The attempt failed. The target may have asked for a delay. */
    FAILED
  }

  /**
   * {@return the class of the status, such as {@code 2xx}: the values of a metric's label are few}
   */
  String statusClass() {
    return status >= 200 && status < 600 ? status / 100 + "xx" : "other";
  }

  /** {@return the meaning of this answer} */
  public Meaning meaning() {
    if (status >= 200 && status < 300) {
      return Meaning.DONE;
    }
    return status == 410 ? Meaning.GONE : Meaning.FAILED;
  }

  static WebhookAnswer of(int status, @Nullable String retryAfter, String text, Instant now) {
    boolean heeded = status == 429 || status == 503;
    Duration wait = heeded && retryAfter != null ? waitOf(retryAfter.strip(), now) : null;
    return new WebhookAnswer(status, wait, text);
  }

  private static @Nullable Duration waitOf(String retryAfter, Instant now) {
    Duration wait;
    if (SECONDS.matcher(retryAfter).matches()) {
      wait = Duration.ofSeconds(Long.parseLong(retryAfter));
    } else {
      try {
        wait =
            Duration.between(
                now,
                ZonedDateTime.parse(retryAfter, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant());
      } catch (DateTimeParseException e) {
        return null;
      }
    }
    if (wait.isNegative()) {
      return Duration.ZERO;
    }
    return wait.compareTo(MAX_RETRY_AFTER) > 0 ? MAX_RETRY_AFTER : wait;
  }

  /** {@return host, status and text, in the form of an attempt's error} */
  public String describe(String host) {
    return host + " answered " + status + (text.isBlank() ? "" : ": " + text.strip());
  }
}
