// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import io.timewheel.PolledTimer;
import io.timewheel.TestClock;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** A timer with a tick of one millisecond, and workers. A test controls both. */
final class HandDriven {
  final TestClock clock;

  /** The last exception of a callback of the timer. */
  final AtomicReference<Throwable> thrown = new AtomicReference<>();

  final PolledTimer timer;

  /** The tasks that the workers received and have not run. */
  final Queue<Runnable> queue = new ArrayDeque<>();

  HandDriven() {
    this(0);
  }

  HandDriven(long originNanos) {
    clock = new TestClock(originNanos);
    timer =
        PolledTimer.builder()
            .timeSource(clock)
            .onError((timeout, error) -> thrown.set(error))
            .build();
  }

  /** Returns an executor on this timer and these workers. */
  WheelScheduledExecutor executor() {
    return builder().build();
  }

  WheelScheduledExecutor.Builder builder() {
    return WheelScheduledExecutor.builder().timer(timer).executor(queue::add);
  }

  /** Advances the time tick by tick, and lets the workers run at each. */
  void advance(long millis) {
    for (long i = 0; i < millis; i++) {
      pass(1);
      work();
    }
  }

  /** Advances the time at once, and lets the timer hand over the due tasks. */
  void pass(long millis) {
    clock.advance(TimeUnit.MILLISECONDS.toNanos(millis));
    timer.poll();
  }

  /** Runs all tasks of the workers, and those that they submit. */
  void work() {
    for (Runnable next = queue.poll(); next != null; next = queue.poll()) {
      next.run();
    }
  }

  long millis() {
    return TimeUnit.NANOSECONDS.toMillis(clock.nanoTime());
  }
}
