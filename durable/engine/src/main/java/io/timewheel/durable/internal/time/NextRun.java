// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.TimerRecord;

/**
 * The run that follows a run that ends now. Pure arithmetic.
 *
 * @param atMillis its scheduled time; {@link EpochMillis#NEVER} if there is none
 * @param dropped the number of missed runs that are dropped for it
 */
public record NextRun(long atMillis, long dropped) {
  /**
   * Returns the run that follows.
   *
   * @param record the timer, while the run is claimed
   * @param graceMillis the grace, in milliseconds
   */
  static NextRun after(TimerRecord record, Claim claim, long graceMillis, long nowMillis) {
    if (!record.definition().isRecurring()) {
      return new NextRun(EpochMillis.NEVER, 0);
    }
    Recurrence recurrence = Recurrence.parse(record.definition().recurrence());
    // A run by hand, or one that its handler has postponed, does not change the schedule.
    boolean scheduled = record.isScheduledRun();
    long nextMillis =
        scheduled ? recurrence.next(claim.scheduledAt(), nowMillis, record.runs()) : record.dueAt();
    Decision decision =
        Decision.of(recurrence, record.definition().missed(), graceMillis, nextMillis, nowMillis);
    return new NextRun(decision.atMillis(), decision.dropped(recurrence, nextMillis));
  }
}
