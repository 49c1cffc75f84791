// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.model.HandlerSlots;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The slots of one prefix, and the names that were refused a slot. A released slot is offered to
 * these names in the order of their refusal, before the name that released it can ask again.
 *
 * <p>The slots are code of the application. If they throw, the name is refused a slot.
 */
final class SharedSlots {
  private static final System.Logger LOG = GuardedLog.LOG;

  private final HandlerSlots slots;
  private final Consumer<String> onGranted;
  private final Set<String> refused = new LinkedHashSet<>();

  /** The refused names for which the slots threw, so that the log shows this once for each. */
  private final Set<String> failed = new HashSet<>();

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
    boolean acquired = take(name);
    if (!acquired) {
      refused.add(name);
    }
    return acquired;
  }

  private boolean take(String name) {
    try {
      boolean taken = slots.acquire(name);
      failed.remove(name);
      return taken;
    } catch (Throwable e) {
      if (failed.add(name)) {
        failed(name, e);
      }
      return false;
    }
  }

  private static void failed(String name, Throwable why) {
    LOG.log(System.Logger.Level.ERROR, "the shared slots fail for the handler " + name, why);
  }

  void release(String name, int count) {
    synchronized (this) {
      for (int i = 0; i < count; i++) {
        try {
          slots.release(name);
        } catch (Throwable e) {
          failed(name, e);
        }
      }
      released = true;
      if (offering || refused.isEmpty()) {
        return; // the offering thread checks again
      }
      offering = true;
    }
    for (List<String> names = nextGranted(); names != null; names = nextGranted()) {
      for (String each : names) {
        try {
          onGranted.accept(each);
        } catch (RuntimeException | Error e) { // the other names have slots and must continue
          LOG.log(System.Logger.Level.ERROR, "after a slot for the handler " + each, e);
        }
      }
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
      if (take(name)) {
        names.remove();
        granted.add(name);
      }
    }
    return granted;
  }

  synchronized void close() {
    refused.clear();
    failed.clear();
  }
}
