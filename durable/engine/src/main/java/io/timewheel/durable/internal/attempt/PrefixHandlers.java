// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.internal.due.DueEntry;
import io.timewheel.durable.internal.due.DueQueue;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The queues of all handlers whose names begin with a prefix. A name has a queue for as long as
 * something is due or under way for it. There are only so many queues at a time: what is due for
 * other names waits until one is free, name by name.
 */
public final class PrefixHandlers {
  private final HandlerQueue.Config config;
  private final int maxNames;
  private final HandlerQueue.Factory factory;
  private final Map<String, HandlerQueue> queues = new HashMap<>();

  /** By name, in the order in which they came. */
  private final Map<String, DueQueue> waiting = new LinkedHashMap<>();

  private boolean closed;

  /**
   * How a family is run.
   *
   * @param each for each of its names; named by the prefix
   * @param maxNames how many names have a queue at a time
   */
  public record Config(HandlerQueue.Config each, int maxNames) {}

  PrefixHandlers(Config config, HandlerQueue.Factory factory) {
    this.config = config.each();
    this.maxNames = config.maxNames();
    this.factory = factory;
  }

  String prefix() {
    return config.name();
  }

  /** An entry that is due. Never blocks. */
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
    String name = entry.due.handler();
    HandlerQueue queue = queues.get(name);
    if (queue == null && queues.size() < maxNames) {
      queue = create(name);
    }
    if (queue == null) {
      waiting.computeIfAbsent(name, added -> new DueQueue()).add(entry);
    } else {
      queue.offer(entry);
    }
    return queue;
  }

  /** Reserves slots of a name, whose queue is made if there is room for one more. */
  synchronized int reserve(String name, int most) {
    HandlerQueue queue = queues.get(name);
    if (queue == null && queues.size() < maxNames && !closed) {
      queue = create(name);
    }
    return queue == null ? 0 : queue.reserve(most);
  }

  private HandlerQueue create(String name) {
    HandlerQueue queue = factory.create(config.withName(name), () -> unused(name));
    queues.put(name, queue);
    return queue;
  }

  /** Has the place of a queue that has nothing to do taken by the next name that waits for one. */
  private void unused(String name) {
    HandlerQueue next;
    synchronized (this) {
      HandlerQueue queue = queues.get(name);
      if (queue == null || !queue.isUnused()) {
        return;
      }
      queues.remove(name);
      next = admit();
    }
    if (next != null) {
      next.claimMore();
    }
  }

  private @Nullable HandlerQueue admit() {
    var names = waiting.entrySet().iterator();
    while (names.hasNext()) {
      var first = names.next();
      names.remove();
      DueEntry entry = first.getValue().poll();
      if (entry != null) {
        HandlerQueue queue = queues.get(first.getKey());
        queue = queue == null ? create(first.getKey()) : queue;
        for (; entry != null; entry = first.getValue().poll()) {
          queue.offer(entry);
        }
        return queue;
      }
    }
    return null;
  }

  /** Forgets names whose entries no longer hold. */
  synchronized void upkeep() {
    waiting.values().forEach(DueQueue::sweep);
    waiting.values().removeIf(DueQueue::isEmpty);
  }

  /** Lets no more queues begin. */
  synchronized void close() {
    closed = true;
    waiting.clear();
  }

  synchronized int waiting() {
    return waiting.values().stream().mapToInt(DueQueue::size).sum();
  }

  synchronized @Nullable HandlerQueue queue(String name) {
    return queues.get(name);
  }

  synchronized List<HandlerQueue> queues() {
    return List.copyOf(queues.values());
  }
}
