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
  private final Duration retain;
  private final long retainAtMost;
  private final AtomicBoolean running = new AtomicBoolean();

  public HistoryPurger(
      TimerStore store, StoreTasks tasks, EngineClock clock, Duration retain, long retainAtMost) {
    this.store = store;
    this.tasks = tasks;
    this.clock = clock;
    this.retain = retain;
    this.retainAtMost = retainAtMost;
  }

  /** Starts a pass, unless one is running, because a slow store must not get overlapping passes. */
  void start() {
    if (!running.getAndSet(true) && !tasks.maintain(this::run)) {
      running.set(false); // closed
    }
  }

  private void run() {
    try {
      attempt(this::purgeTimers, "finished timers");
      attempt(this::purgeAnswers, "the answers of requests");
    } finally {
      running.set(false);
    }
  }

  private void attempt(Runnable purge, String what) {
    try {
      purge.run();
    } catch (RuntimeException | Error e) {
      if (!tasks.isClosed()) {
        LOG.log(System.Logger.Level.WARNING, "cannot purge " + what + "; tried again", e);
      }
    }
  }

  private void purgeTimers() {
    long finishedBefore =
        EpochMillis.saturatedSubtract(clock.nowMillis(), EpochMillis.ceil(retain));
    while (!tasks.isClosed() && store.purge(finishedBefore, retainAtMost, PAGE) == PAGE) {
      // There may be more.
    }
  }

  private void purgeAnswers() {
    long answeredBefore =
        EpochMillis.saturatedSubtract(
            clock.nowMillis(), TimeUnit.HOURS.toMillis(RequestId.KEPT_HOURS));
    while (!tasks.isClosed() && store.purgeAnswers(answeredBefore, PAGE) == PAGE) {
      // There may be more.
    }
  }
}
