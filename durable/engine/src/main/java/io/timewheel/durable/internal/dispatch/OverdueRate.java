// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.dispatch;

import io.timewheel.durable.internal.commit.Delays;
import io.timewheel.durable.internal.due.DueEntry;
import io.timewheel.durable.internal.due.DueQueue;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lets through at a bounded rate what was overdue when its shard was acquired or when the clock
 * jumped, so that what the handlers call is not met by all of it at once. The longest overdue comes
 * first.
 */
final class OverdueRate {
  private static final long STEP_MILLIS = 20;

  private final Delays delays;
  private final Consumer<DueEntry> next;
  private final int perStep;
  private final Duration step;
  private final DueQueue held = new DueQueue();
  private boolean stepping;
  private int left;

  /**
   * @param next takes each entry at its turn
   */
  OverdueRate(Delays delays, int perSecond, Consumer<DueEntry> next) {
    this.delays = delays;
    this.next = next;
    long stepsPerSecond = 1_000 / STEP_MILLIS;
    perStep = (int) Math.max(1, perSecond / stepsPerSecond);
    step = Duration.ofNanos(1_000_000_000L * perStep / perSecond);
  }

  /** Something overdue that is to be let through in its turn. */
  void add(DueEntry entry) {
    boolean start;
    synchronized (this) {
      held.add(entry);
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

  /** Ends with a step in which nothing was let through; goes on whatever is thrown. */
  private void step() {
    synchronized (this) {
      if (held.isEmpty() && left == perStep) {
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
    DueEntry entry = left > 0 ? held.poll() : null;
    left -= entry == null ? 0 : 1;
    return entry;
  }

  /** Should it be on its way all the same, then only the first of the two begins. */
  private synchronized void putBack(DueEntry entry) {
    held.addFirst(entry);
  }

  synchronized int size() {
    return held.size();
  }
}
