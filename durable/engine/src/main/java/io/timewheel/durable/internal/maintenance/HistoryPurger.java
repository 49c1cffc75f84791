// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.maintenance;

import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Purges finished timers and answers to requests after their retention time. */
public final class HistoryPurger {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int PAGE = 1_000;

  private final TimerStore store;
  private final StoreTasks tasks;
  private final EngineClock clock;
  private final Duration remember;
  private final long rememberAtMost;
  private final AtomicBoolean running = new AtomicBoolean();

  public HistoryPurger(
      TimerStore store,
      StoreTasks tasks,
      EngineClock clock,
      Duration remember,
      long rememberAtMost) {
    this.store = store;
    this.tasks = tasks;
    this.clock = clock;
    this.remember = remember;
    this.rememberAtMost = rememberAtMost;
  }

  /** Starts a pass, unless one is running, because a slow store must not get overlapping passes. */
  void start() {
    if (!running.getAndSet(true) && !tasks.maintain(this::run)) {
      running.set(false); // closed
    }
  }

  private void run() {
    try {
      forget();
    } catch (RuntimeException | Error e) {
      if (!tasks.isClosed()) {
        LOG.log(System.Logger.Level.WARNING, "cannot purge finished timers; tried again", e);
      }
    } finally {
      running.set(false);
    }
  }

  private void forget() {
    long finishedBefore =
        EpochMillis.saturatedSubtract(clock.nowMillis(), EpochMillis.ceil(remember));
    while (!tasks.isClosed() && store.forget(finishedBefore, rememberAtMost, PAGE) == PAGE) {
      // There may be more.
    }
    long answeredBefore =
        EpochMillis.saturatedSubtract(
            clock.nowMillis(), TimeUnit.HOURS.toMillis(RequestId.KEPT_HOURS));
    while (!tasks.isClosed() && store.forgetAnswers(answeredBefore, PAGE) == PAGE) {
      // There may be more.
    }
  }
}
