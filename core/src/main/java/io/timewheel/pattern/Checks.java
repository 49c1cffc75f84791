// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Checks arguments. */
final class Checks {
  private Checks() {}

  static int positive(String name, int value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: more than 0)");
    }
    return value;
  }

  static long positiveNanos(String name, Duration value) {
    if (requireNonNull(value, name).isNegative() || value.isZero()) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: more than zero)");
    }
    return TimeUnit.NANOSECONDS.convert(value);
  }

  /** Returns a timeout in nanoseconds, at least 0 and saturated. */
  static long timeoutNanos(Duration timeout) {
    return Math.max(0, TimeUnit.NANOSECONDS.convert(requireNonNull(timeout, "timeout")));
  }
}
