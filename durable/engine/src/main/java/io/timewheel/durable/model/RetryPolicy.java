// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/**
 * How often a run is attempted, and how long it waits in between: after the first failure {@code
 * backoff}, then twice as long after each, up to {@code maxBackoff}; each wait shortened at random
 * by up to a half, so that what failed together is not tried again together.
 *
 * @param maxAttempts how many attempts there are in all, 1 to 1,000
 * @param backoff the wait after the first failure, at least 10 ms
 * @param maxBackoff the longest wait, at least {@code backoff}
 */
public record RetryPolicy(int maxAttempts, Duration backoff, Duration maxBackoff) {
  // In front of DEFAULT, whose constructor reads them.
  private static final Duration MIN_BACKOFF = Duration.ofMillis(10);

  /** The longest wait for another attempt, also where a handler asks for one. */
  public static final Duration MAX_WAIT = Duration.ofDays(365);

  /** Five attempts; a second after the first failure, a minute at most. */
  public static final RetryPolicy DEFAULT =
      new RetryPolicy(5, Duration.ofSeconds(1), Duration.ofMinutes(1));

  /**
   * Checks the ranges.
   *
   * @param maxAttempts how many attempts there are in all, 1 to 1,000
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
