// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;

/** Netty's timer, compiled for 4.2; the same code runs on 4.1. */
final class NettySubject implements Subject {
  private final HashedWheelTimer timer;

  NettySubject(Settings settings) {
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
