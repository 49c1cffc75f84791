// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import java.util.Timer;
import java.util.TimerTask;

/**
 * The oldest timer of the JDK. A task is also the handle, and can be used once.
 *
 * <p>A cancelled task stays in the heap until it is due, or until {@code purge} is called, which
 * goes through all tasks. A program that cancels many tasks must call that now and then. Here, it
 * is called each time as many tasks were cancelled as are pending, so the amortised cost of a
 * cancel is constant.
 */
final class JavaUtilTimerSubject implements Subject {
  private final Timer timer = new Timer("measured", true);
  private final int purgeEvery;

  /** A race loses a few counts, which is harmless. */
  private int cancelled;

  JavaUtilTimerSubject(Settings settings) {
    purgeEvery = Math.max(1 << 16, settings.pending());
  }

  @Override
  public Object task(Runnable body) {
    return body;
  }

  @Override
  public Object start(Object task, long delayNanos) {
    Task timeout = new Task((Runnable) task);
    timer.schedule(timeout, Settings.wholeMillis(delayNanos));
    return timeout;
  }

  @Override
  public boolean cancel(Object handle) {
    boolean done = ((Task) handle).cancel();
    if (++cancelled >= purgeEvery) {
      cancelled = 0;
      timer.purge();
    }
    return done;
  }

  @Override
  public void close() {
    timer.cancel();
  }

  private static final class Task extends TimerTask {
    private final Runnable body;

    Task(Runnable body) {
      this.body = body;
    }

    @Override
    public void run() {
      body.run();
    }
  }
}
