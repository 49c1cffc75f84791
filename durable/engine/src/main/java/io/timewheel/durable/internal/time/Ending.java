// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import io.timewheel.durable.spi.record.TimerRecord;

/**
 * Ends another recurrence at a time, after a number of runs, or at the first of both. The number of
 * runs counts ended runs, which the record of the timer contains. So it does not change the times.
 */
final class Ending extends Recurrence {
  private final Recurrence recurrence;
  private final long untilMillis;
  private final long times;

  /**
   * @param untilMillis no run is scheduled at or after it; {@link EpochMillis#NEVER} if there is no
   *     such time
   * @param times the largest number of runs that end; {@link Recurrence#UNLIMITED} if there is none
   */
  Ending(Recurrence recurrence, long untilMillis, long times) {
    this.recurrence = recurrence;
    this.untilMillis = untilMillis;
    this.times = times;
  }

  private long beforeEnd(long millis) {
    return millis < untilMillis ? millis : EpochMillis.NEVER;
  }

  @Override
  public long left(long ended) {
    return times == UNLIMITED ? UNLIMITED : Math.max(0, times - ended);
  }

  @Override
  public long first(long nowMillis) {
    return beforeEnd(recurrence.first(nowMillis));
  }

  @Override
  long next(long scheduledMillis, long endedMillis) {
    return beforeEnd(recurrence.next(scheduledMillis, endedMillis));
  }

  @Override
  long count(long fromMillis, long toMillis, long limit) {
    return recurrence.count(fromMillis, spanEnd(fromMillis, toMillis), limit);
  }

  @Override
  public long fromEnd(int nth, long fromMillis, long toMillis) {
    return recurrence.fromEnd(nth, fromMillis, spanEnd(fromMillis, toMillis));
  }

  /** Returns the end of a span. A user may have moved the run at its beginning beyond the end. */
  private long spanEnd(long fromMillis, long toMillis) {
    return Math.min(toMillis, Math.max(untilMillis, EpochMillis.saturatedAdd(fromMillis, 1)));
  }

  @Override
  long afterClockStep(TimerRecord record, long offsetMillis, long nowMillis) {
    return recurrence.afterClockStep(record, offsetMillis, nowMillis);
  }

  @Override
  public String toString() {
    return (times == UNLIMITED ? "" : RecurrenceParser.TIMES + " " + times + " ")
        + (untilMillis == EpochMillis.NEVER
            ? ""
            : RecurrenceParser.UNTIL + " " + EpochMillis.toInstant(untilMillis) + " ")
        + recurrence;
  }
}
