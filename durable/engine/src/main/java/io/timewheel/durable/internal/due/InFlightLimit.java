// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

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
    synchronized (this) {
      waiting.add(entry);
    }
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
    for (DueEntry entry = next(); entry != null; entry = next()) {
      boolean begun;
      try {
        begun = entry.begin();
      } catch (RuntimeException | Error e) {
        synchronized (this) {
          inside--;
          waiting.addFirst(entry);
        }
        throw e;
      }
      if (begun) {
        handling.accept(entry);
      } else {
        synchronized (this) {
          inside--;
        }
      }
    }
  }

  private synchronized @Nullable DueEntry next() {
    DueEntry entry = inside < LIMIT ? waiting.poll() : null;
    inside += entry == null ? 0 : 1;
    admitting = entry != null;
    return entry;
  }
}
