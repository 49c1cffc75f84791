// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Entries that are due and wait for their turn. A window that drops an entry does not look for it
 * here; so that those do not pile up behind something that stands still, they are swept out
 * whenever the queue has doubled. Guarded by its user.
 */
public final class DueQueue {
  private static final int SWEEP_FROM = 1_024;

  private final ArrayDeque<DueEntry> entries = new ArrayDeque<>();
  private int sweepAt = SWEEP_FROM;

  public void add(DueEntry entry) {
    entries.add(entry);
    if (entries.size() >= sweepAt) {
      sweep();
    }
  }

  public void addFirst(DueEntry entry) {
    entries.addFirst(entry);
  }

  public void sweep() {
    entries.removeIf(DueEntry::isDropped);
    sweepAt = Math.max(SWEEP_FROM, 2 * entries.size());
  }

  /** The next one that its window has not dropped; null if there is none. */
  @Nullable
  public DueEntry poll() {
    DueEntry entry = entries.poll();
    while (entry != null && entry.isDropped()) {
      entry = entries.poll();
    }
    return entry;
  }

  public void clear() {
    entries.clear();
  }

  public boolean isEmpty() {
    return entries.isEmpty();
  }

  public int size() {
    return entries.size();
  }
}
