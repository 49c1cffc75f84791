// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import io.timewheel.PolledTimer;
import java.time.Duration;

/** This library's timer without a thread. */
final class PolledSubject extends TimewheelSubject {
  private final PolledTimer timer;

  PolledSubject(Settings settings) {
    this(PolledTimer.builder().tick(Duration.ofNanos(settings.tickNanos())).build());
  }

  private PolledSubject(PolledTimer timer) {
    super(timer);
    this.timer = timer;
  }

  @Override
  public long poll() {
    timer.poll();
    return timer.nextDeadlineNanos() - System.nanoTime();
  }
}
