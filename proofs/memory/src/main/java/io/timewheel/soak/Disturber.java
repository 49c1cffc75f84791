// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/** A thread that interrupts others at random: timer threads, pools and producers. */
final class Disturber implements Runnable {
  private static final long MAX_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  final LongAdder interrupts = new LongAdder();
  private final List<Thread> victims;
  private final SplittableRandom random;
  private volatile boolean stopping;

  Disturber(List<Thread> victims, SplittableRandom random) {
    this.victims = victims;
    this.random = random;
  }

  void stop() {
    stopping = true;
  }

  @Override
  public void run() {
    while (!stopping) {
      LockSupport.parkNanos(random.nextLong(MAX_PAUSE_NANOS));
      victims.get(random.nextInt(victims.size())).interrupt();
      interrupts.increment();
    }
  }
}
