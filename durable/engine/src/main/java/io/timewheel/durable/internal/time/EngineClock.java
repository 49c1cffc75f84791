// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import io.timewheel.durable.internal.health.GuardedLog;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * The wall clock of the engine. After a small backward step of the machine's clock, it stops until
 * that clock has caught up. It follows a larger step, because a clock that was once far ahead must
 * not stop all timers for years.
 */
public final class EngineClock {
  /** The largest backward step, in milliseconds, for which the clock stops. */
  public static final long HOLD_MILLIS = 5_000;

  private static final System.Logger LOG = GuardedLog.LOG;

  private final InstantSource source;
  private final LongSupplier offsetMillis;
  private final AtomicLong latestMillis = new AtomicLong(Long.MIN_VALUE);

  /** The number of backward steps that the clock followed. */
  public final LongAdder jumpsBack = new LongAdder();

  private volatile boolean failing;

  public EngineClock(InstantSource source, LongSupplier offsetMillis) {
    this.source = source;
    this.offsetMillis = offsetMillis;
  }

  /**
   * Reads the clock of the machine. If the clock throws, it returns the last time, because the
   * caller has begun work that must end.
   */
  private long wallMillis() {
    try {
      long millis =
          EpochMillis.saturatedAdd(EpochMillis.floor(source.instant()), offsetMillis.getAsLong());
      failing = false;
      return millis;
    } catch (RuntimeException e) {
      long seenMillis = latestMillis.get();
      if (seenMillis == Long.MIN_VALUE) {
        throw e;
      }
      if (!failing) {
        failing = true;
        LOG.log(System.Logger.Level.ERROR, "the clock fails: no time passes until it answers", e);
      }
      return seenMillis;
    }
  }

  /** Returns the current time in milliseconds, rounded down. */
  public long nowMillis() {
    while (true) {
      // Read before the wall clock. Otherwise, a thread that is delayed here, for example by a
      // suspended machine, would compare an old reading with a newer one. It would then detect a
      // backward step.
      long seenMillis = latestMillis.get();
      long wallMillis = wallMillis();
      if (wallMillis == seenMillis) {
        return wallMillis;
      }
      boolean back = wallMillis < seenMillis;
      if (back && seenMillis - wallMillis <= HOLD_MILLIS) {
        return seenMillis;
      }
      if (latestMillis.compareAndSet(seenMillis, wallMillis)) {
        if (back) {
          jumpsBack.increment();
          LOG.log(
              System.Logger.Level.WARNING,
              "the clock has gone back by {0} ms: timers follow it",
              seenMillis - wallMillis);
        }
        return wallMillis;
      }
    }
  }
}
