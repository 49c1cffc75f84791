// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.Timer;
import io.timewheel.WheelTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The contract for timers with a thread, which runs on the manual clock. */
abstract class ThreadedTimerContract extends TimerContract {
  private final ManualTimeSource clock;
  private final List<Thread> workers = new ArrayList<>();

  ThreadedTimerContract(long nanoTime) {
    clock = new ManualTimeSource(nanoTime);
  }

  <B extends WheelTimer.Builder<B>> B set(B builder, TimerSettings settings) {
    return settings.applyTo(builder).timeSource(clock).threadFactory(this::newWorker);
  }

  private Thread newWorker(Runnable work) {
    Thread worker = new Thread(work, "worker-" + workers.size());
    worker.setDaemon(true);
    workers.add(worker);
    return worker;
  }

  @Override
  protected final void advance(Duration duration) throws InterruptedException {
    clock.advanceBy(duration);
    for (Thread worker : workers) {
      clock.awaitParked(worker);
    }
  }

  @Override
  protected abstract Timer newTimer(TimerSettings settings);
}
