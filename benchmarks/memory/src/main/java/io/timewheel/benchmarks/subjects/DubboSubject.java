// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import org.apache.dubbo.common.timer.HashedWheelTimer;
import org.apache.dubbo.common.timer.Timeout;
import org.apache.dubbo.common.timer.TimerTask;

/** Dubbo's timer. */
final class DubboSubject implements Subject {
  private final HashedWheelTimer timer;

  DubboSubject(Settings settings) {
    timer = new HashedWheelTimer(Daemon::new, settings.tickNanos(), NANOSECONDS, Settings.SLOTS);
  }

  @Override
  public Object task(Runnable body) {
    return (TimerTask) timeout -> body.run();
  }

  @Override
  public Object start(Object task, long delayNanos) {
    return timer.newTimeout((TimerTask) task, delayNanos, NANOSECONDS);
  }

  @Override
  public boolean cancel(Object handle) {
    return ((Timeout) handle).cancel();
  }

  @Override
  public void close() {
    timer.stop();
  }
}
