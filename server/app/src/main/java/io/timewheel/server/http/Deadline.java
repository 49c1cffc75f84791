// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * The deadline of an answer. When it passes, the answer is 503, although the store may still work
 * on the request. Thread-safe.
 */
public final class Deadline {
  private final Scheduler scheduler;
  private final Duration storeTimeout;
  private final Runnable passed;
  private Scheduler.@Nullable Task task;
  private boolean ended;

  /**
   * Creates a deadline that has not begun.
   *
   * @param storeTimeout the time within which the store must answer
   * @param passed called when the deadline passes
   */
  Deadline(Scheduler scheduler, Duration storeTimeout, Runnable passed) {
    this.scheduler = scheduler;
    this.storeTimeout = storeTimeout;
    this.passed = passed;
  }

  /** Begins again with this time in addition to the store timeout, unless it has ended. */
  public synchronized void restart(Duration more) {
    cancel();
    if (!ended) {
      task = scheduler.schedule(passed, storeTimeout.plus(more).toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  /** Ends, because the request was answered or its work may take long. */
  public synchronized void end() {
    ended = true;
    cancel();
  }

  private void cancel() {
    if (task != null) {
      task.cancel();
    }
  }
}
