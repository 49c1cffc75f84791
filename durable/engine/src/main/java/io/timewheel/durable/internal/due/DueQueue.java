// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The due entries that wait for their turn. A window that drops an entry does not remove it here.
 * So that dropped entries do not pile up behind a stalled handler, they are removed whenever the
 * queue has doubled. Guarded by its user.
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

  /** Returns the next entry that its window has not dropped; null if there is none. */
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
