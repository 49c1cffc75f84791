// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.ownership;

/**
 * Contains a time of the database, and the time of this JVM's clock at that moment, with a possible
 * error of half the round trip. An answer that took seconds is inaccurate: timers that relied on it
 * could fire early by as much.
 *
 * @param databaseMillis the time of the database, in milliseconds
 * @param nanos the estimated time of this JVM at that moment, in nanoseconds
 * @param errorNanos the maximum error in either direction, in nanoseconds
 */
record DatabaseTime(long databaseMillis, long nanos, long errorNanos) {
  /** Two clocks drift apart by less than one part in this number. */
  private static final long DRIFT = 5_000;

  private static final long NANOS_PER_MILLI = 1_000_000;

  /** Estimates the time from the moments of the question and of the answer. */
  static DatabaseTime of(long databaseMillis, long askedNanos, long answeredNanos) {
    long errorNanos = (answeredNanos - askedNanos) / 2;
    return new DatabaseTime(databaseMillis, askedNanos + errorNanos, errorNanos);
  }

  /** Returns the time of the database at another time of this JVM. */
  long millisAt(long thenNanos) {
    return databaseMillis + (thenNanos - nanos) / NANOS_PER_MILLI;
  }

  /**
   * Returns the more accurate one of this and a later reading. If one of the clocks was set, that
   * is the later one.
   */
  DatabaseTime orBetter(DatabaseTime later) {
    long agedNanos = errorNanos + (later.nanos - nanos) / DRIFT;
    long differenceMillis = Math.abs(millisAt(later.nanos) - later.databaseMillis);
    boolean contradicts = differenceMillis > (later.errorNanos + agedNanos) / NANOS_PER_MILLI + 1;
    return later.errorNanos <= agedNanos || contradicts ? later : this;
  }
}
