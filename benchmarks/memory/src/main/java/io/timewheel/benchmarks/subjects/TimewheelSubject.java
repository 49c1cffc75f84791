// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.timewheel.HashedWheelTimer;
import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import java.time.Duration;

/** The timers of this library. */
class TimewheelSubject implements Subject {
  private final Timer timer;

  TimewheelSubject(Timer timer) {
    this.timer = timer;
  }

  static TimewheelSubject hierarchical(Settings settings) {
    return new TimewheelSubject(
        HierarchicalWheelTimer.builder().tick(Duration.ofNanos(settings.tickNanos())).build());
  }

  static TimewheelSubject hashed(Settings settings) {
    return new TimewheelSubject(
        HashedWheelTimer.builder()
            .tick(Duration.ofNanos(settings.tickNanos()))
            .ticksPerWheel(Settings.SLOTS)
            .build());
  }

  @Override
  public final Object task(Runnable body) {
    return (TimerTask) timeout -> body.run();
  }

  @Override
  public final Object start(Object task, long delayNanos) {
    return timer.newTimeout((TimerTask) task, delayNanos, NANOSECONDS);
  }

  @Override
  public final boolean cancel(Object handle) {
    return ((Timeout) handle).cancel();
  }

  @Override
  public final Object move(Object handle, Object task, long delayNanos) {
    return ((Timeout) handle).reschedule(delayNanos, NANOSECONDS)
        ? handle
        : start(task, delayNanos);
  }

  @Override
  public final long wakeups() {
    return timer.stats().wakeups();
  }

  @Override
  public final void close() {
    timer.close();
  }
}
