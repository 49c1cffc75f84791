// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/** Computes the delay before each attempt. */
@FunctionalInterface
public interface Backoff {
  /**
   * Returns the delay before an attempt.
   *
   * @param attempt the number of the attempt; the first is 1
   * @return the delay
   */
  Duration delay(int attempt);

  /**
   * Returns a backoff with the same delay before every attempt.
   *
   * @param delay the delay
   * @return the backoff
   */
  static Backoff fixed(Duration delay) {
    requireNonNull(delay, "delay");
    return attempt -> delay;
  }

  /**
   * Returns a backoff whose delay doubles from attempt to attempt, up to a maximum.
   *
   * @param first the delay before the first attempt, more than zero
   * @param max the longest delay, at least {@code first}
   * @return the backoff
   * @throws IllegalArgumentException if {@code first} is not positive, or {@code max} is less than
   *     {@code first}
   */
  static Backoff exponential(Duration first, Duration max) {
    long firstNanos = Checks.positiveNanos("first", first);
    long maxNanos = Checks.positiveNanos("max", max);
    if (maxNanos < firstNanos) {
      throw new IllegalArgumentException(
          "max: " + max + " (expected: at least first, " + first + ")");
    }
    return attempt -> {
      int doublings = attempt - 1;
      boolean fits = doublings < Long.numberOfLeadingZeros(firstNanos);
      return Duration.ofNanos(fits ? Math.min(maxNanos, firstNanos << doublings) : maxNanos);
    };
  }

  /**
   * Returns this backoff with full jitter: each delay is a random part of the original one. So keys
   * that failed together are not retried together.
   *
   * @return the backoff
   */
  default Backoff withFullJitter() {
    return withJitter(1);
  }

  /**
   * Returns this backoff with jitter on a part of each delay. With a part of 0.5, a delay of 10
   * seconds becomes a random delay between 5 and 10 seconds.
   *
   * @param part the random part of each delay: from 0, none, to 1, all of it
   * @return the backoff
   */
  default Backoff withJitter(double part) {
    return withJitter(part, () -> ThreadLocalRandom.current().nextDouble());
  }

  /**
   * Returns this backoff with jitter from a given source on a part of each delay.
   *
   * @param part the random part of each delay: from 0, none, to 1, all of it
   * @param random supplies numbers from 0 to 1
   * @return the backoff
   */
  default Backoff withJitter(double part, DoubleSupplier random) {
    requireNonNull(random, "random");
    if (!(part >= 0 && part <= 1)) {
      throw new IllegalArgumentException("part: " + part + " (expected: from 0 to 1)");
    }
    return attempt -> {
      long nanos = Checks.timeoutNanos(delay(attempt));
      return Duration.ofNanos((long) (nanos * (1 - part + part * random.getAsDouble())));
    };
  }
}
