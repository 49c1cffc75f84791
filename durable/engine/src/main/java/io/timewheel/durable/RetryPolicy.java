// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

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

  /** The longest wait there is, whoever asks for it. */
  static final Duration MAX_WAIT = Duration.ofDays(365);

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
      throw new IllegalArgumentException("maxAttempts: " + maxAttempts + " (expected: 1 to 1000)");
    }
    if (backoff.compareTo(MIN_BACKOFF) < 0) {
      throw new IllegalArgumentException(
          "backoff: " + backoff + " (expected: at least " + MIN_BACKOFF + ")");
    }
    if (maxBackoff.compareTo(backoff) < 0 || maxBackoff.compareTo(MAX_WAIT) > 0) {
      throw new IllegalArgumentException(
          "maxBackoff: "
              + maxBackoff
              + " (expected: at least the backoff, "
              + backoff
              + ", at most "
              + MAX_WAIT
              + ")");
    }
  }

  /**
   * The wait after a failed attempt.
   *
   * @param attempt the number of the attempt that failed; the first is 1
   * @param random a number from 0 to 1 that decides about the jitter
   * @return the wait in milliseconds
   */
  long waitMillis(int attempt, double random) {
    long first = backoff.toMillis();
    long max = maxBackoff.toMillis();
    int doublings = attempt - 1;
    boolean fits = doublings < Long.numberOfLeadingZeros(first) - 1;
    long wait = fits ? Math.min(max, first << doublings) : max;
    return wait - (long) (wait * random / 2);
  }
}
