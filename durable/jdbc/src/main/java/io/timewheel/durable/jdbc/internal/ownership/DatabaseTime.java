// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.ownership;

/**
 * The time of the database, and when it was that by the clock of this JVM, give or take an error:
 * half of the time that the question was under way. An answer that was held up for seconds says
 * little, and timers that relied on it would fire as much too early.
 *
 * @param databaseMillis what the database said
 * @param nanos when it said so, as far as can be told
 * @param errorNanos how far that may be off, both ways
 */
record DatabaseTime(long databaseMillis, long nanos, long errorNanos) {
  /** Two clocks drift apart by less than one part in so many. */
  private static final long DRIFT = 5_000;

  private static final long NANOS_PER_MILLI = 1_000_000;

  /** What was asked at one time and answered at another. */
  static DatabaseTime of(long databaseMillis, long askedNanos, long answeredNanos) {
    long errorNanos = (answeredNanos - askedNanos) / 2;
    return new DatabaseTime(databaseMillis, askedNanos + errorNanos, errorNanos);
  }

  /** The time of the database at another time. */
  long millisAt(long thenNanos) {
    return databaseMillis + (thenNanos - nanos) / NANOS_PER_MILLI;
  }

  /** The better one of this and a later one, which is also better if one of the clocks was set. */
  DatabaseTime orBetter(DatabaseTime later) {
    long agedNanos = errorNanos + (later.nanos - nanos) / DRIFT;
    long differenceMillis = Math.abs(millisAt(later.nanos) - later.databaseMillis);
    boolean contradicts = differenceMillis > (later.errorNanos + agedNanos) / NANOS_PER_MILLI + 1;
    return later.errorNanos <= agedNanos || contradicts ? later : this;
  }
}
