// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * The time of one timer since it was made, on its grid of ticks.
 *
 * <p>It hides the origin and the wrap-around of the time source from everything else. Elapsed time
 * is never negative and reaches 292 years; beyond that, a time source cannot be told from one that
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

  /** The time since the timer was made; zero while the time source is behind the start. */
  long elapsedNanos() {
    return Math.max(0, timeSource.nanoTime() - startNanos);
  }

  /** The last tick that has begun. */
  long nowTick() {
    return ticks.tickAt(elapsedNanos());
  }

  /**
   * The reading of the time source at which a tick begins; compare it with the current reading by
   * difference. No difference spans more than 292 years, so while the time source is behind the
   * start, a reading further ahead is clamped to that.
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
