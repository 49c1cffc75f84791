// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/** Forgets what has been finished for long enough, and the oldest of what is too much. */
final class Forgetting {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int PAGE = 1_000;

  private final Engine engine;
  private final TimerStore store;
  private final Duration remember;
  private final long rememberAtMost;
  private final AtomicBoolean running = new AtomicBoolean();

  Forgetting(Engine engine, TimerStore store, Duration remember, long rememberAtMost) {
    this.engine = engine;
    this.store = store;
    this.remember = remember;
    this.rememberAtMost = rememberAtMost;
  }

  /** Never twice at once: a store that takes long for it must not have to do it again and again. */
  void start() {
    if (!running.getAndSet(true) && !engine.executeUpkeep(this::run)) {
      running.set(false); // closed
    }
  }

  private void run() {
    try {
      forget();
    } catch (RuntimeException | Error e) {
      if (!engine.isClosing()) {
        LOG.log(System.Logger.Level.WARNING, "cannot forget what is finished; tried again", e);
      }
    } finally {
      running.set(false);
    }
  }

  private void forget() {
    long finishedBefore =
        EpochMillis.saturatedSubtract(engine.nowMillis(), EpochMillis.ceil(remember));
    while (!engine.isClosing() && store.forget(finishedBefore, rememberAtMost, PAGE) == PAGE) {
      // There may be more.
    }
  }
}
