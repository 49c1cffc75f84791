// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import java.time.Duration;
import java.time.Instant;

/**
 * Converts times to whole milliseconds since 1970, the precision of stored times. Values saturate
 * at both ends of a {@code long}. The largest one means never.
 *
 * <p>Scheduled times are rounded up, so that timers never fire early. The current time is rounded
 * down for the same reason.
 */
public final class EpochMillis {
  /** A time that never comes. */
  public static final long NEVER = Long.MAX_VALUE;

  private static final long NANOS_PER_MILLI = 1_000_000;

  private EpochMillis() {}

  /** Returns the last millisecond that is not after the instant. */
  static long floor(Instant instant) {
    return millis(instant.getEpochSecond(), instant.getNano() / NANOS_PER_MILLI);
  }

  /** Returns the first millisecond that is not before the instant. */
  public static long ceil(Instant instant) {
    return millis(instant.getEpochSecond(), ceilMillis(instant.getNano()));
  }

  /** Returns the duration in milliseconds, rounded up. */
  public static long ceil(Duration duration) {
    return millis(duration.getSeconds(), ceilMillis(duration.getNano()));
  }

  /**
   * Computes a negative time from the end of its second. The start of the earliest second is out of
   * range and would saturate.
   */
  private static long millis(long seconds, long fraction) {
    return seconds < 0
        ? saturatedAdd(saturatedMillis(seconds + 1), fraction - 1_000)
        : saturatedAdd(saturatedMillis(seconds), fraction);
  }

  static Instant toInstant(long millis) {
    return Instant.ofEpochMilli(millis);
  }

  static long saturatedMillis(long seconds) {
    if (seconds > Long.MAX_VALUE / 1_000) {
      return Long.MAX_VALUE;
    }
    return seconds < Long.MIN_VALUE / 1_000 ? Long.MIN_VALUE : seconds * 1_000;
  }

  public static long saturatedAdd(long a, long b) {
    long sum = a + b;
    boolean overflow = ((a ^ sum) & (b ^ sum)) < 0;
    return overflow ? (a < 0 ? Long.MIN_VALUE : Long.MAX_VALUE) : sum;
  }

  public static long saturatedSubtract(long a, long b) {
    long difference = a - b;
    boolean overflow = ((a ^ b) & (a ^ difference)) < 0;
    return overflow ? (a < 0 ? Long.MIN_VALUE : Long.MAX_VALUE) : difference;
  }

  private static long ceilMillis(int nanos) {
    return (nanos + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI;
  }
}
