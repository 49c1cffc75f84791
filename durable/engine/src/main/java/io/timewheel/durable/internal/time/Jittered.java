// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;

/**
 * Delays each run of another recurrence by the same offset. It subtracts the offset from each time
 * that it passes to the other recurrence, and adds it to each time that it returns.
 */
final class Jittered extends Recurrence {
  private final Recurrence recurrence;
  private final long jitterMillis;
  private final long offsetMillis;

  Jittered(Recurrence recurrence, long jitterMillis, long offsetMillis) {
    this.recurrence = recurrence;
    this.jitterMillis = jitterMillis;
    this.offsetMillis = offsetMillis;
  }

  private long earlier(long millis) {
    return EpochMillis.saturatedSubtract(millis, offsetMillis);
  }

  private long later(long millis) {
    return EpochMillis.saturatedAdd(millis, offsetMillis);
  }

  @Override
  public long first(long nowMillis) {
    return recurrence.firstLater(offsetMillis, nowMillis);
  }

  @Override
  long next(long scheduledMillis, long endedMillis) {
    return later(recurrence.next(earlier(scheduledMillis), earlier(endedMillis)));
  }

  @Override
  long count(long fromMillis, long untilMillis, long limit) {
    return recurrence.count(earlier(fromMillis), earlier(untilMillis), limit);
  }

  @Override
  public long fromEnd(int nth, long fromMillis, long untilMillis) {
    return later(recurrence.fromEnd(nth, earlier(fromMillis), earlier(untilMillis)));
  }

  @Override
  long afterClockStep(TimerRecord record, long ignored, long nowMillis) {
    return recurrence.afterClockStep(record, offsetMillis, nowMillis);
  }

  @Override
  public String toString() {
    return "jitter %s %s %s"
        .formatted(Duration.ofMillis(jitterMillis), Duration.ofMillis(offsetMillis), recurrence);
  }
}
