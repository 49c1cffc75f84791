// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.dispatch;

import io.timewheel.durable.internal.commit.Delays;
import io.timewheel.durable.internal.due.DueEntry;
import io.timewheel.durable.internal.due.DueQueue;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Limits the rate of entries that were overdue when their shard was acquired or the clock jumped,
 * to protect the systems that the handlers call. Entries pass in the order in which they came.
 */
final class OverdueRate {
  private static final long STEP_MILLIS = 20;

  private final Delays delays;
  private final Consumer<DueEntry> next;
  private final int perStep;
  private final Duration step;
  private final DueQueue waiting = new DueQueue();
  private boolean stepping;
  private int left;

  /**
   * @param next receives each entry at its turn
   */
  OverdueRate(Delays delays, int perSecond, Consumer<DueEntry> next) {
    this.delays = delays;
    this.next = next;
    long stepsPerSecond = 1_000 / STEP_MILLIS;
    perStep = (int) Math.max(1, perSecond / stepsPerSecond);
    step = Duration.ofNanos(1_000_000_000L * perStep / perSecond);
  }

  /** Adds an overdue entry, which waits for its turn. */
  void add(DueEntry entry) {
    boolean start;
    synchronized (this) {
      waiting.add(entry);
      start = !stepping;
      if (start) {
        stepping = true;
        left = perStep;
      }
    }
    try {
      letThrough();
    } finally {
      if (start) {
        delays.start(this::step, step);
      }
    }
  }

  /**
   * Passes on the entries of one step. The steps end when one has passed on no entry, and continue
   * after an exception.
   */
  private void step() {
    synchronized (this) {
      if (waiting.isEmpty() && left == perStep) {
        stepping = false;
        return;
      }
      left = perStep;
    }
    try {
      letThrough();
    } finally {
      delays.start(this::step, step);
    }
  }

  private void letThrough() {
    for (DueEntry entry = next(); entry != null; entry = next()) {
      try {
        next.accept(entry);
      } catch (RuntimeException | Error e) {
        putBack(entry);
        throw e;
      }
    }
  }

  private synchronized @Nullable DueEntry next() {
    DueEntry entry = left > 0 ? waiting.poll() : null;
    left -= entry == null ? 0 : 1;
    return entry;
  }

  /**
   * Puts an entry back after a failure. If the entry was passed on nevertheless, only the first of
   * the two begins.
   */
  private synchronized void putBack(DueEntry entry) {
    waiting.addFirst(entry);
  }

  synchronized int size() {
    return waiting.size();
  }
}
