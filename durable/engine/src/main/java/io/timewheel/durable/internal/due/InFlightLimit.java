// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import java.util.function.Consumer;

/**
 * Limits the number of entries that are handled at a time. The others wait and stay in their
 * windows, which bounds the changes that wait for a slow store.
 */
public final class InFlightLimit {
  private static final int LIMIT = 1_000;

  private final Consumer<DueEntry> handling;
  private final DueQueue waiting = new DueQueue();
  private int inside;

  /**
   * True while a thread admits entries. It also handles entries that enter or leave in the
   * meantime, which avoids nested calls.
   */
  private boolean admitting;

  /**
   * @param handling handles an entry, and calls {@link #leave} once at its end
   */
  public InFlightLimit(Consumer<DueEntry> handling) {
    this.handling = handling;
  }

  public void enter(DueEntry entry) {
    waiting.add(entry);
    admit();
  }

  public void leave() {
    synchronized (this) {
      inside--;
    }
    admit();
  }

  private void admit() {
    synchronized (this) {
      if (admitting) {
        return;
      }
      admitting = true;
    }
    try {
      admitAll();
    } catch (RuntimeException | Error e) {
      synchronized (this) {
        admitting = false;
      }
      throw e;
    }
  }

  private void admitAll() {
    while (reserve()) {
      DueEntry entry = null;
      try {
        entry = waiting.take();
      } finally {
        if (entry == null) {
          synchronized (this) {
            inside--;
          }
        }
      }
      if (entry != null) {
        handling.accept(entry);
      }
    }
  }

  private synchronized boolean reserve() {
    admitting = inside < LIMIT && !waiting.isEmpty();
    inside += admitting ? 1 : 0;
    return admitting;
  }
}
