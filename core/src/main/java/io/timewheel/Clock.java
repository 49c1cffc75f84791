// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * Counts the time of one timer, since it was made, on its grid of ticks.
 *
 * <p>Only this class deals with the origin of the time source and its wrap-around. Elapsed time is
 * never negative and reaches 292 years. Beyond that, a time source that runs on looks like one that
 * has fallen behind the start.
 */
final class Clock {
  final Ticks ticks;
  final TimeSource timeSource;
  private final long startNanos;

  Clock(TimeSource timeSource, Ticks ticks) {
    this.ticks = ticks;
    this.timeSource = timeSource;
    this.startNanos = timeSource.nanoTime();
  }

  /** Returns the time since the timer was made; zero while the time source is behind the start. */
  long elapsedNanos() {
    return Math.max(0, timeSource.nanoTime() - startNanos);
  }

  /** Returns the last tick that has begun. */
  long nowTick() {
    return ticks.tickAt(elapsedNanos());
  }

  /**
   * Returns the reading of the time source at which a tick begins. Compare it with the current
   * reading by difference. A difference cannot exceed 292 years. So the result is clamped while the
   * time source is behind the start.
   */
  long readingAt(long tick) {
    long behindNanos = Math.max(0, startNanos - timeSource.nanoTime());
    return startNanos + Math.min(ticks.nanosAt(tick), Long.MAX_VALUE - behindNanos);
  }

  /** Parks the current thread until a tick begins; may return early. */
  void parkUntil(long tick, Object blocker) {
    timeSource.parkUntil(readingAt(tick), blocker);
  }
}
