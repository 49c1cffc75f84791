// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A program that starts, moves and cancels timeouts at the very end of the stack, and then verifies
 * that the timer still works. The program hangs or throws if the timer is broken.
 */
final class StackOverflows {
  private static final long STACK_BYTES = 256 * 1024;
  private static final int ROUNDS = 4;
  private static final int LEVELS = 400;

  private final WheelTimer timer;
  private final AtomicLong runs = new AtomicLong();
  private final TimerTask task = new Task();
  private final Runnable start = new Start();
  private final Runnable move = new Move();
  private final Runnable cancel = new Cancel();
  private long overflows;
  private int depth;
  private @Nullable Timeout victim;

  private StackOverflows(WheelTimer timer) {
    this.timer = timer;
  }

  /**
   * Runs the program.
   *
   * @param args the wheel, hashed or hierarchical
   */
  public static void main(String[] args) throws InterruptedException {
    WheelTimer timer =
        args[0].equals("hashed")
            ? HashedWheelTimer.builder().stripes(1).tick(Duration.ofMillis(1)).build()
            : HierarchicalWheelTimer.builder().stripes(1).build();
    new StackOverflows(timer).run();
    timer.close();
  }

  private void run() throws InterruptedException {
    for (int round = 0; round < ROUNDS; round++) {
      Thread caller = new Thread(null, this::overflow, "caller", STACK_BYTES);
      caller.start();
      caller.join();
    }
    CountDownLatch fired = new CountDownLatch(1);
    timer.newTimeout(timeout -> fired.countDown(), 1, TimeUnit.MILLISECONDS);
    fired.await();
    timer.stop();
    TimerStats stats = timer.stats();
    if (timer.pendingTimeouts() != 0
        || stats.expired() != runs.get() + 1
        || stats.started() != stats.expired() + stats.cancelled()) {
      throw new AssertionError(stats + ", " + runs + " runs");
    }
    System.out.println("the timer is whole: " + overflows + " overflows, " + stats);
  }

  /**
   * Runs each operation at each of the deepest levels of recursion, so that the overflow may occur
   * at any point of it.
   */
  private void overflow() {
    start.run(); // so that some of the code has run before and some has not
    attempt(Integer.MAX_VALUE, start);
    int deepest = depth;
    for (int levels = deepest - 1; levels > deepest - LEVELS; levels--) {
      attempt(levels, move);
      attempt(levels, cancel);
      attempt(levels, start);
    }
  }

  private void attempt(int levels, Runnable operation) {
    depth = 0;
    try {
      descend(levels, operation);
    } catch (StackOverflowError e) {
      overflows++;
    }
  }

  private void descend(int levels, Runnable operation) {
    depth++;
    if (levels == 0) {
      operation.run();
    } else {
      descend(levels - 1, operation);
    }
  }

  // Classes, not lambdas: linking a lambda needs more stack than the timer.

  private final class Task implements TimerTask {
    @Override
    public void run(Timeout timeout) {
      runs.incrementAndGet();
    }
  }

  private final class Start implements Runnable {
    @Override
    public void run() {
      timer.newTimeout(task, overflows % 7, TimeUnit.MILLISECONDS);
      victim = timer.newTimeout(task, 1, TimeUnit.HOURS);
    }
  }

  private final class Move implements Runnable {
    @Override
    public void run() {
      victim.reschedule(overflows % 7, TimeUnit.MILLISECONDS);
    }
  }

  private final class Cancel implements Runnable {
    @Override
    public void run() {
      victim.cancel();
    }
  }
}
