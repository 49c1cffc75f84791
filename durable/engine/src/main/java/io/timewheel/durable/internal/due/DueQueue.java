// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The due entries that wait for their turn. They stay in their windows, whose limits therefore
 * include them, until {@link #take} hands one over for good. A window that drops an entry does not
 * remove it here. So that dropped entries do not pile up behind a stalled handler, they are removed
 * whenever the queue has doubled. Thread-safe.
 */
public final class DueQueue {
  private static final int SWEEP_FROM = 1_024;

  private final ArrayDeque<DueEntry> entries = new ArrayDeque<>();
  private int sweepAt = SWEEP_FROM;

  public synchronized void add(DueEntry entry) {
    entries.add(entry);
    if (entries.size() >= sweepAt) {
      sweep();
    }
  }

  /** Puts back an entry that was polled. */
  public synchronized void addFirst(DueEntry entry) {
    entries.addFirst(entry);
  }

  public synchronized void sweep() {
    entries.removeIf(DueEntry::isDropped);
    sweepAt = Math.max(SWEEP_FROM, 2 * entries.size());
  }

  /** Returns the next entry, which stays in its window; null if there is none. */
  public synchronized @Nullable DueEntry poll() {
    return isEmpty() ? null : entries.poll();
  }

  /**
   * Removes the next entry from its window and hands it over. Called without a lock, because it
   * takes the lock of a shard.
   *
   * @return null if there is none
   */
  public @Nullable DueEntry take() {
    for (DueEntry entry = poll(); entry != null; entry = poll()) {
      try {
        if (entry.take()) {
          return entry;
        }
      } catch (RuntimeException | Error e) {
        addFirst(entry);
        throw e;
      }
    }
    return null;
  }

  public synchronized void clear() {
    entries.clear();
  }

  public synchronized boolean isEmpty() {
    while (!entries.isEmpty() && entries.element().isDropped()) {
      entries.remove();
    }
    return entries.isEmpty();
  }

  public synchronized int size() {
    return entries.size();
  }
}
