// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.model.HandlerSlots;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The slots of one prefix, and the names that were refused a slot. A released slot is offered to
 * these names in the order of their refusal, before the name that released it can ask again.
 */
final class SharedSlots {
  private final HandlerSlots slots;
  private final Consumer<String> onGranted;
  private final Set<String> refused = new LinkedHashSet<>();

  /** True while a thread offers released slots. */
  private boolean offering;

  /** True if a slot was released after the refused names were last checked. */
  private boolean released;

  /**
   * @param onGranted receives a refused name that has a slot now; called without a lock
   */
  SharedSlots(HandlerSlots slots, Consumer<String> onGranted) {
    this.slots = slots;
    this.onGranted = onGranted;
  }

  synchronized boolean acquire(String name) {
    boolean acquired = slots.acquire(name);
    if (!acquired) {
      refused.add(name);
    }
    return acquired;
  }

  void release(String name, int count) {
    synchronized (this) {
      for (int i = 0; i < count; i++) {
        slots.release(name);
      }
      released = true;
      if (offering || refused.isEmpty()) {
        return; // the offering thread checks again
      }
      offering = true;
    }
    Throwable thrown = null;
    for (List<String> names = nextGranted(); names != null; names = nextGranted()) {
      for (String each : names) {
        try {
          onGranted.accept(each);
        } catch (RuntimeException | Error e) { // the other names have slots and must continue
          thrown = e;
        }
      }
    }
    if (thrown instanceof RuntimeException e) {
      throw e;
    } else if (thrown instanceof Error e) {
      throw e;
    }
  }

  /** Takes slots for refused names. Returns null if none was released since the last check. */
  private synchronized @Nullable List<String> nextGranted() {
    if (!released) {
      offering = false;
      return null;
    }
    released = false;
    List<String> granted = new ArrayList<>();
    for (Iterator<String> names = refused.iterator(); names.hasNext(); ) {
      String name = names.next();
      if (slots.acquire(name)) {
        names.remove();
        granted.add(name);
      }
    }
    return granted;
  }

  synchronized void close() {
    refused.clear();
  }
}
