// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.internal.due.DueEntry;
import io.timewheel.durable.model.HandlerSlots;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The queues of all handlers whose names begin with a prefix. A name has a queue while it has due
 * timers or attempts. All queues share the slots of the prefix.
 */
public final class PrefixHandlers {
  private final HandlerQueue.Config config;
  private final HandlerQueue.Parts parts;
  private final SlotBudget.Shared slots;
  private final Map<String, HandlerQueue> queues = new HashMap<>();
  private boolean closed;

  /**
   * The settings of the handlers of a prefix.
   *
   * @param each the settings of each name; named by the prefix
   * @param slots the slots that the names share
   */
  public record Config(HandlerQueue.Config each, HandlerSlots slots) {}

  PrefixHandlers(Config config, HandlerQueue.Parts parts) {
    this.config = config.each();
    this.parts = parts;
    slots = new SlotBudget.Shared(config.slots(), this::slotReleased);
  }

  String prefix() {
    return config.name();
  }

  /** Adds a due entry. Never blocks. */
  void add(DueEntry entry) {
    HandlerQueue queue = offer(entry);
    if (queue != null) {
      queue.claimMore();
    }
  }

  private synchronized @Nullable HandlerQueue offer(DueEntry entry) {
    if (closed) {
      return null;
    }
    HandlerQueue queue = made(entry.due.handler());
    queue.offer(entry);
    return queue;
  }

  /** Reserves slots of a name. */
  synchronized int reserve(String name, int most) {
    if (closed) {
      return 0;
    }
    HandlerQueue queue = made(name);
    int reserved = queue.reserve(most);
    if (queue.isUnused()) {
      queues.remove(name);
    }
    return reserved;
  }

  private HandlerQueue made(String name) {
    return queues.computeIfAbsent(
        name, absent -> new HandlerQueue(parts, config.withName(name), slots, () -> unused(name)));
  }

  private void slotReleased(String name) {
    HandlerQueue queue;
    synchronized (this) {
      if (closed) {
        return;
      }
      queue = made(name);
    }
    queue.useFreeSlots();
  }

  private synchronized void unused(String name) {
    HandlerQueue queue = queues.get(name);
    if (queue != null && queue.isUnused()) {
      queues.remove(name);
    }
  }

  /** Creates no further queues. */
  synchronized void close() {
    closed = true;
  }

  synchronized @Nullable HandlerQueue queue(String name) {
    return queues.get(name);
  }

  synchronized List<HandlerQueue> queues() {
    return List.copyOf(queues.values());
  }
}
