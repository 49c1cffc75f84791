// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * The time of one timer, counted from the moment at which the timer was made, on its grid of ticks.
 *
 * <p>Neither the origin of the time source nor its wrap-around is seen anywhere else. Elapsed time
 * is never negative and reaches to 292 years; after them, a time source cannot be told from one
 * that has fallen behind the start.
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

  /** The time since the timer was made. A time source that falls behind the start stands still. */
  long elapsedNanos() {
    return Math.max(0, timeSource.nanoTime() - startNanos);
  }

  /** The last tick that has begun. */
  long nowTick() {
    return ticks.tickAt(elapsedNanos());
  }

  /**
   * The reading of the time source at which a tick begins, to be compared by difference with the
   * present one. No difference spans more than 292 years, so while the time source is behind the
   * start, a reading further ahead than that is brought within reach.
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
