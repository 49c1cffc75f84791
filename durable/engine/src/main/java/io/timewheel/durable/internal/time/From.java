// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import io.timewheel.durable.spi.record.TimerRecord;

/**
 * Adds a first time to another recurrence. The first time counts for equality. Only a run that a
 * user has moved can be earlier. The run after it is not.
 */
final class From extends Recurrence {
  private final Recurrence recurrence;
  private final long fromMillis;

  From(Recurrence recurrence, long fromMillis) {
    this.recurrence = recurrence;
    this.fromMillis = fromMillis;
  }

  @Override
  public long first(long nowMillis) {
    return recurrence.firstFrom(fromMillis);
  }

  @Override
  long next(long scheduledMillis, long endedMillis) {
    long nextMillis = recurrence.next(scheduledMillis, endedMillis);
    return nextMillis < fromMillis ? recurrence.firstFrom(fromMillis) : nextMillis;
  }

  @Override
  long afterClockStep(TimerRecord record, long offsetMillis, long nowMillis) {
    long dueMillis = record.dueAt();
    long startMillis = EpochMillis.saturatedAdd(fromMillis, offsetMillis);
    return dueMillis <= startMillis
        ? dueMillis
        : Math.max(startMillis, recurrence.afterClockStep(record, offsetMillis, nowMillis));
  }

  @Override
  long maxJitterMillis() {
    return recurrence.maxJitterMillis();
  }

  @Override
  long count(long fromRunMillis, long untilMillis, long limit) {
    if (!skipsRuns(fromRunMillis, untilMillis)) {
      return recurrence.count(fromRunMillis, untilMillis, limit);
    }
    long startMillis = recurrence.firstFrom(fromMillis);
    return startMillis < untilMillis && limit > 1
        ? 1 + recurrence.count(startMillis, untilMillis, limit - 1)
        : 1;
  }

  @Override
  public long fromEnd(int nth, long fromRunMillis, long untilMillis) {
    if (!skipsRuns(fromRunMillis, untilMillis)) {
      return recurrence.fromEnd(nth, fromRunMillis, untilMillis);
    }
    long startMillis = recurrence.firstFrom(fromMillis);
    return startMillis < untilMillis && recurrence.count(startMillis, untilMillis, nth) == nth
        ? recurrence.fromEnd(nth, startMillis, untilMillis)
        : fromRunMillis;
  }

  /**
   * Returns whether the run that would follow another one is before the first time, and so is
   * skipped.
   */
  private boolean skipsRuns(long runMillis, long endedMillis) {
    return recurrence.next(runMillis, endedMillis) < fromMillis;
  }

  @Override
  public String toString() {
    return recurrence + RecurrenceParser.FROM + EpochMillis.toInstant(fromMillis);
  }
}
