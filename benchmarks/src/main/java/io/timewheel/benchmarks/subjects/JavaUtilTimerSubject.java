// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import java.util.Timer;
import java.util.TimerTask;

/**
 * The oldest timer of the JDK. A task is the handle too, and serves once.
 *
 * <p>A cancelled task stays in its heap until its time has come, or until {@code purge} is called,
 * which goes through all. A program that cancels many must call that now and then: here each time
 * as many were cancelled as are pending, so the amortized cost of a cancel is constant.
 */
final class JavaUtilTimerSubject implements Subject {
  private final Timer timer = new Timer("measured", true);
  private final int purgeEvery;

  /** A race loses a count or two, which is harmless. */
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
