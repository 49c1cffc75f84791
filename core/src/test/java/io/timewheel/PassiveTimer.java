// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The engine of a timer without a thread, on either wheel, with its own clock. */
final class PassiveTimer {
  /** The two wheels. The hashed one is small, so a turn is short. */
  enum Kind {
    HASHED,
    HIERARCHICAL;

    Wheel wheel(Ticks ticks) {
      return this == HASHED ? new HashedWheel(ticks, 8) : new HierarchicalWheel(ticks);
    }
  }

  final TestClock clock = new TestClock();
  final RecordingTask task = new RecordingTask(clock);
  final Engine engine;
  final long tickNanos;

  PassiveTimer(Kind kind, long tickNanos) {
    this(kind, tickNanos, 1, 0);
  }

  PassiveTimer(Kind kind, long tickNanos, int stripes, long maxPendingTimeouts) {
    this.tickNanos = tickNanos;
    PolledTimer.Builder settings =
        PolledTimer.builder()
            .timeSource(clock)
            .tick(Duration.ofNanos(tickNanos))
            .maxPendingTimeouts(maxPendingTimeouts);
    engine = new Engine(settings.build(), settings, stripes, false, kind::wheel);
  }

  WheelTimeout start(long delayNanos) {
    return start(task, delayNanos);
  }

  WheelTimeout start(TimerTask other, long delayNanos) {
    return (WheelTimeout) engine.start(other, delayNanos, TimeUnit.NANOSECONDS);
  }

  int poll() {
    return engine.runDue(Integer.MAX_VALUE);
  }

  /** Advances the time and runs the timeouts that are due then. */
  int advance(long nanos) {
    clock.advance(nanos);
    return poll();
  }

  int advanceTo(long nanos) {
    return advance(nanos - clock.nanoTime());
  }

  /**
   * Returns when a timeout with the given deadline fires: at the first tick that begins then or
   * later.
   */
  long firesAt(long deadlineNanos) {
    return (deadlineNanos + tickNanos - 1) / tickNanos * tickNanos;
  }
}
