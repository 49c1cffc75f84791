// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import io.timewheel.PolledTimer;
import io.timewheel.TestClock;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** A timer with a tick of one millisecond, and workers: a test drives both by hand. */
final class HandDriven {
  final TestClock clock;

  /** What the callbacks of the timer threw last. */
  final AtomicReference<Throwable> thrown = new AtomicReference<>();

  final PolledTimer timer;

  /** What was given to the workers and has not been run. */
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

  /** An executor on this timer and these workers. */
  WheelScheduledExecutor executor() {
    return builder().build();
  }

  WheelScheduledExecutor.Builder builder() {
    return WheelScheduledExecutor.builder().timer(timer).executor(queue::add);
  }

  /** Lets time pass tick by tick, and the workers work at each. */
  void advance(long millis) {
    for (long i = 0; i < millis; i++) {
      pass(1);
      work();
    }
  }

  /** Lets time pass at once, and the timer hand over what is due. */
  void pass(long millis) {
    clock.advance(TimeUnit.MILLISECONDS.toNanos(millis));
    timer.poll();
  }

  /** Runs everything that the workers have, and what it leads to. */
  void work() {
    for (Runnable next = queue.poll(); next != null; next = queue.poll()) {
      next.run();
    }
  }

  long millis() {
    return TimeUnit.NANOSECONDS.toMillis(clock.nanoTime());
  }
}
