// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import io.timewheel.Timeout;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A thread that fills its share of the places, and then starts, moves and cancels timeouts there at
 * random. Sometimes it uses the places of other threads, so that threads race for a timeout.
 */
final class Producer implements Runnable {
  private static final int BATCH = 256;
  private static final int STALL_EVERY = 20_000;
  private static final long MAX_STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final Population population;
  private final int from;
  private final int to;
  private final SplittableRandom random;
  private volatile boolean filled;
  private volatile boolean stopping;

  Producer(Population population, int from, int to, SplittableRandom random) {
    this.population = population;
    this.from = from;
    this.to = to;
    this.random = random;
  }

  @Override
  public void run() {
    for (int place = from; place < to && !stopping; place += BATCH) {
      int start = place;
      batch(() -> fill(start, Math.min(start + BATCH, to)));
    }
    filled = true;
    while (!stopping) {
      batch(this::act);
      if (random.nextInt(STALL_EVERY) == 0) {
        LockSupport.parkNanos(random.nextLong(MAX_STALL_NANOS));
      }
      Thread.interrupted(); // otherwise, a thread that was interrupted once never parks again
    }
  }

  boolean isFilled() {
    return filled;
  }

  void stop() {
    stopping = true;
  }

  private void batch(Runnable work) {
    population.gate.readLock().lock();
    try {
      work.run();
    } finally {
      population.gate.readLock().unlock();
    }
  }

  private void fill(int start, int end) {
    for (int place = start; place < end; place++) {
      population.start(place, Delay.randomLong(random), Manner.random(random));
    }
  }

  private void act() {
    for (int i = 0; i < BATCH; i++) {
      if (random.nextInt(32) == 0) {
        actOnAny(population.at(random.nextInt(population.size())));
      } else {
        actOnOwn(random.nextInt(from, to));
      }
    }
  }

  private void actOnOwn(int place) {
    Timeout timeout = population.at(place);
    if (timeout == null) {
      population.start(place, Delay.random(random), Manner.random(random));
      return;
    }
    SoakTask task = (SoakTask) timeout.task();
    if (task.isSettled()) {
      task.retire(timeout);
      population.start(place, Delay.random(random), Manner.random(random));
      return;
    }
    int dice = random.nextInt(100);
    if (dice < 25) {
      if (task.cancel(timeout)) {
        task.retire(timeout);
        population.start(place, Delay.random(random), Manner.random(random));
      }
    } else if (dice < 50) {
      move(task, timeout);
    }
  }

  /**
   * Acts on any timeout, in a race with its owner. The action may have no effect. Each effect
   * counts once.
   */
  private void actOnAny(@Nullable Timeout timeout) {
    if (timeout == null) {
      return;
    }
    SoakTask task = (SoakTask) timeout.task();
    if (random.nextBoolean()) {
      task.cancel(timeout);
    } else {
      move(task, timeout);
    }
  }

  private void move(SoakTask task, Timeout timeout) {
    Delay delay = Delay.random(random);
    task.move(timeout, delay.amount(), delay.unit());
  }
}
