// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;

/** Decides when a run counts as missed and which run comes next, by the clock of the engine. */
public final class MissedRunPolicy {
  private static final Duration MIN_GRACE = Duration.ofSeconds(1);

  private final EngineClock clock;
  private final long minGraceMillis;

  /**
   * @param lease the node lease of the store; zero if there is none
   */
  public MissedRunPolicy(EngineClock clock, Duration lease) {
    this.clock = clock;
    minGraceMillis = Decision.graceMillis(MIN_GRACE, lease);
  }

  /**
   * Returns the smallest grace of all timers: a run that is later than this may have been missed.
   */
  public long minGraceMillis() {
    return minGraceMillis;
  }

  /** Returns how late a run may begin before it counts as missed, in milliseconds. */
  public long graceMillis(TimerDefinition definition) {
    return Math.max(minGraceMillis, definition.graceMillis());
  }

  /** Returns the run that follows a run that ends now. */
  public NextRun nextRun(TimerRecord record, Claim claim) {
    return NextRun.after(record, claim, graceMillis(record.definition()), clock.nowMillis());
  }

  /** Returns whether the claimed run is a catch-up run. */
  public boolean isCatchUp(TimerRecord record) {
    return Decision.isCatchUp(record, graceMillis(record.definition()));
  }
}
