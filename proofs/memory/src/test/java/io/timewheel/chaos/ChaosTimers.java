// SPDX-License-Identifier: Apache-2.0
package io.timewheel.chaos;

import io.timewheel.HashedWheelTimer;
import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.PolledTimer;
import io.timewheel.Timer;
import io.timewheel.TimerBuilder;
import io.timewheel.WheelTimer;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadFactory;

/** Timers of every kind, with random settings. */
enum ChaosTimers {
  HASHED,
  HIERARCHICAL,
  POLLED;

  private static final long[] TICKS_NANOS = {
    1,
    7,
    64,
    1_000,
    1_000_000,
    10_000_000,
    100_000_000,
    1_000_000_000,
    3_600_000_000_000L,
    86_400_000_000_000L
  };
  private static final int[] SLOTS = {1, 1, 2, 4, 64, 512, 8192};

  /** A timer with its settings, and their text for the log. */
  record Made(Timer timer, long tickNanos, String text) {}

  Made make(ChaosClock clock, ThreadFactory threads, SplittableRandom random) {
    long tickNanos = TICKS_NANOS[random.nextInt(TICKS_NANOS.length)];
    int slots = SLOTS[random.nextInt(SLOTS.length)];
    int stripes = 1 << random.nextInt(4);
    boolean direct = random.nextInt(4) == 0;
    Timer timer =
        switch (this) {
          case HASHED -> {
            HashedWheelTimer.Builder builder = HashedWheelTimer.builder().ticksPerWheel(slots);
            with(builder, clock, tickNanos, direct);
            with(builder, threads, stripes);
            yield builder.build();
          }
          case HIERARCHICAL -> {
            HierarchicalWheelTimer.Builder builder = HierarchicalWheelTimer.builder();
            with(builder, clock, tickNanos, direct);
            with(builder, threads, stripes);
            yield builder.build();
          }
          case POLLED -> {
            PolledTimer.Builder builder = PolledTimer.builder();
            with(builder, clock, tickNanos, direct);
            yield builder.build();
          }
        };
    String text =
        String.format(
            "%s: tick of %d ns, %d slots, %d stripes%s, clock from %d",
            this, tickNanos, slots, stripes, direct ? ", executor" : "", clock.nanoTime());
    return new Made(timer, tickNanos, text);
  }

  private static void with(
      TimerBuilder<?> builder, ChaosClock clock, long tickNanos, boolean direct) {
    builder.timeSource(clock).tick(Duration.ofNanos(tickNanos)).onError((timeout, error) -> {});
    if (direct) {
      builder.executor(Runnable::run);
    }
  }

  private static void with(WheelTimer.Builder<?> builder, ThreadFactory threads, int stripes) {
    builder.threadFactory(threads).stripes(stripes);
  }
}
