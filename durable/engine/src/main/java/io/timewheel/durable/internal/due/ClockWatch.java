// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.time.EngineClock;

/**
 * Detects jumps of the wall clock, and suspensions of the machine, by comparing it with the clock
 * of the wheel. After a jump ahead, the shards limit the rate of the overdue timers. After a step
 * back, {@link ClockSteps} corrects waits.
 */
public final class ClockWatch {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final long DRIFT_MILLIS = 20;
  private static final long JUMP_MILLIS = 1_000;

  private final DueContext context;
  private final OwnedShards shards;
  private final ClockSteps steps;
  private final int overduePerSecond;
  private long driftMillis;

  public ClockWatch(
      DueContext context, OwnedShards shards, ClockSteps steps, int overduePerSecond) {
    this.context = context;
    this.shards = shards;
    this.steps = steps;
    this.overduePerSecond = overduePerSecond;
  }

  public synchronized void start() {
    driftMillis = driftMillis();
  }

  /** Compares the clocks. */
  public void look() {
    long change;
    synchronized (this) {
      long drift = driftMillis();
      change = drift - driftMillis;
      if (Math.abs(change) <= DRIFT_MILLIS) {
        return;
      }
      driftMillis = drift;
    }
    long nowMillis = context.nowMillis();
    if (change > JUMP_MILLIS) {
      context.health().counters.clockJumps.increment();
      LOG.log(
          System.Logger.Level.WARNING,
          "the clock has gone ahead by {0} ms, or the machine was suspended: overdue timers fire"
              + " at {1} a second at most",
          change,
          overduePerSecond);
      shards.forEach(shard -> shard.partAndPace(nowMillis));
    } else if (change < 0) {
      shards.forEach(shard -> shard.clockWentBack(nowMillis));
      if (change < -EngineClock.HOLD_MILLIS) {
        steps.wentBack(-change, nowMillis);
      }
    }
    shards.forEach(Shard::rearm);
  }

  /**
   * Returns how far the wall clock is ahead of the clock of the wheel, from an arbitrary origin.
   */
  private long driftMillis() {
    return context.nowMillis() - context.delays().nanoTime() / 1_000_000;
  }
}
