// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.Timeout;
import io.timewheel.TimerTask;
import java.time.Duration;

/**
 * What the engine does every second: it looks at the clock, and has what could not be done before
 * be tried again. It goes on while the wheel does, whose owner may stop it too early.
 */
final class Beat implements TimerTask {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final Duration BEAT = Duration.ofSeconds(1);
  private static final int BEATS_PER_UPKEEP = 60;
  private static final long DRIFT_MILLIS = 20;
  private static final long JUMP_MILLIS = 1_000;

  private final Engine engine;
  private final int overduePerSecond;
  private long driftMillis;
  private int beats;

  Beat(Engine engine, int overduePerSecond) {
    this.engine = engine;
    this.overduePerSecond = overduePerSecond;
  }

  /** Begins; the first beat comes a second later. */
  Timeout start() {
    driftMillis = driftMillis();
    return engine.timer().newTimeout(this, BEAT);
  }

  @Override
  public void run(Timeout timeout) {
    if (engine.isClosing()) {
      return;
    }
    if (timeout.reschedule(BEAT)) {
      beat();
    } else {
      engine.wheelStopped();
    }
  }

  @Override
  public void cancelled(Timeout timeout) {
    if (engine.timer().isStopped()) {
      engine.wheelStopped();
    }
  }

  private void beat() {
    lookAtClock();
    engine.shards.forEach(Shard::beat);
    engine.leases().beat();
    engine.waits().beat();
    if (++beats % BEATS_PER_UPKEEP == 0) {
      engine.troubles.report();
      engine.upkeep();
    }
  }

  /** Notices that the wall clock has jumped, or that the machine was suspended. */
  void lookAtClock() {
    long change;
    synchronized (this) {
      long drift = driftMillis();
      change = drift - driftMillis;
      if (Math.abs(change) <= DRIFT_MILLIS) {
        return;
      }
      driftMillis = drift;
    }
    if (change > JUMP_MILLIS) {
      engine.counters.clockJumps.increment();
      LOG.log(
          System.Logger.Level.WARNING,
          "the clock has gone ahead by {0} ms, or the machine was suspended: what is overdue fires"
              + " at {1} a second at most",
          change,
          overduePerSecond);
      long nowMillis = engine.nowMillis();
      engine.shards.forEach(shard -> shard.partAndPace(nowMillis));
    } else if (change < 0) {
      long nowMillis = engine.nowMillis();
      engine.shards.forEach(shard -> shard.clockWentBack(nowMillis));
      if (change < -EngineClock.HOLD_MILLIS) {
        engine.clockWentBack(-change, nowMillis);
      }
    }
    engine.shards.forEach(Shard::rearm);
  }

  /** How far the wall clock is ahead of the timer's, counted from anywhere. */
  private long driftMillis() {
    return engine.nowMillis() - engine.timer().timeSource().nanoTime() / 1_000_000;
  }
}
