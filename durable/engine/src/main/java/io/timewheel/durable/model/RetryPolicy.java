// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/**
 * Limits the attempts of a run, and sets the waits between them. The wait after the first failure
 * is {@code backoff}. It doubles with each failure, up to {@code maxBackoff}. Each wait is
 * shortened at random by up to a half, so that timers that failed together are not all retried
 * together.
 *
 * @param maxAttempts the largest number of attempts, including the first, 1 to 1,000
 * @param backoff the wait after the first failure, at least 10 ms
 * @param maxBackoff the longest wait, at least {@code backoff}
 */
public record RetryPolicy(int maxAttempts, Duration backoff, Duration maxBackoff) {
  // Must precede DEFAULT, whose constructor reads them.
  private static final Duration MIN_BACKOFF = Duration.ofMillis(10);

  /** The longest wait for another attempt, also if a handler requests one. */
  public static final Duration MAX_WAIT = Duration.ofDays(365);

  /** Five attempts, with waits from one second to one minute. */
  public static final RetryPolicy DEFAULT =
      new RetryPolicy(5, Duration.ofSeconds(1), Duration.ofMinutes(1));

  /**
   * Checks the ranges.
   *
   * @param maxAttempts the largest number of attempts, including the first, 1 to 1,000
   * @param backoff the wait after the first failure, at least 10 ms
   * @param maxBackoff the longest wait, at least {@code backoff}
   */
  public RetryPolicy {
    requireNonNull(backoff, "backoff");
    requireNonNull(maxBackoff, "maxBackoff");
    if (maxAttempts < 1 || maxAttempts > 1_000) {
      throw new InvalidArgumentException("maxAttempts: " + maxAttempts + " (expected: 1 to 1000)");
    }
    if (backoff.compareTo(MIN_BACKOFF) < 0) {
      throw new InvalidArgumentException(
          "backoff: " + backoff + " (expected: at least " + MIN_BACKOFF + ")");
    }
    if (maxBackoff.compareTo(backoff) < 0 || maxBackoff.compareTo(MAX_WAIT) > 0) {
      throw new InvalidArgumentException(
          "maxBackoff: "
              + maxBackoff
              + " (expected: at least the backoff, "
              + backoff
              + ", at most "
              + MAX_WAIT
              + ")");
    }
  }
}
