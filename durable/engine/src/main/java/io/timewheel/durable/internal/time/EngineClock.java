// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import io.timewheel.durable.internal.health.GuardedLog;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * The wall clock as the engine takes it. It stands still while the machine's clock has gone back by
 * a little, and believes it when it has gone back by more: a clock that was wrong once must not
 * hold everything for years.
 */
public final class EngineClock {
  /** A jump back of up to this is waited out. */
  public static final long HOLD_MILLIS = 5_000;

  private static final System.Logger LOG = GuardedLog.LOG;

  private final InstantSource source;
  private final LongSupplier offsetMillis;
  private final AtomicLong latestMillis = new AtomicLong(Long.MIN_VALUE);

  /** The times that the clock went back and was believed. */
  public final LongAdder jumpsBack = new LongAdder();

  private volatile boolean failing;

  public EngineClock(InstantSource source, LongSupplier offsetMillis) {
    this.source = source;
    this.offsetMillis = offsetMillis;
  }

  /** A clock that fails stands still: who looks at it has begun something that must end. */
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
        LOG.log(System.Logger.Level.ERROR, "the clock fails, and is taken to stand still", e);
      }
      return seenMillis;
    }
  }

  /** The current time, rounded down. */
  public long nowMillis() {
    while (true) {
      // Before the wall: a thread that is held up here, as when the machine is suspended, must not
      // compare its old reading with a newer one, and take that for a clock that has gone back.
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
              "the clock has gone back by {0} ms, and is believed",
              seenMillis - wallMillis);
        }
        return wallMillis;
      }
    }
  }
}
