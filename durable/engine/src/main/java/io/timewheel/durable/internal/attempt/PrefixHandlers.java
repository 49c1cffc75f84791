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
 * The lanes of all handlers whose names begin with a prefix. A name has a lane for as long as
 * something is due or under way for it. There are only so many lanes at a time: what is due for
 * other names waits until one is free, name by name.
 */
public final class PrefixHandlers {
  private final HandlerQueue.Config config;
  private final int maxLanes;
  private final HandlerQueue.Factory factory;
  private final Map<String, HandlerQueue> lanes = new HashMap<>();

  /** By name, in the order in which they came. */
  private final Map<String, DueQueue> waiting = new LinkedHashMap<>();

  private boolean closed;

  /**
   * How a family is run.
   *
   * @param each for each of its names; named by the prefix
   * @param maxLanes how many names have a lane at a time
   */
  public record Config(HandlerQueue.Config each, int maxLanes) {}

  PrefixHandlers(Config config, HandlerQueue.Factory factory) {
    this.config = config.each();
    this.maxLanes = config.maxLanes();
    this.factory = factory;
  }

  String prefix() {
    return config.name();
  }

  /** An entry that is due. Never blocks. */
  void add(DueEntry entry) {
    HandlerQueue lane = offer(entry);
    if (lane != null) {
      lane.claimMore();
    }
  }

  private synchronized @Nullable HandlerQueue offer(DueEntry entry) {
    if (closed) {
      return null;
    }
    String name = entry.due.handler();
    HandlerQueue lane = lanes.get(name);
    if (lane == null && lanes.size() < maxLanes) {
      lane = create(name);
    }
    if (lane == null) {
      waiting.computeIfAbsent(name, added -> new DueQueue()).add(entry);
    } else {
      lane.offer(entry);
    }
    return lane;
  }

  /** Reserves slots of a name, whose lane is made if there is room for one more. */
  synchronized int reserve(String name, int most) {
    HandlerQueue lane = lanes.get(name);
    if (lane == null && lanes.size() < maxLanes && !closed) {
      lane = create(name);
    }
    return lane == null ? 0 : lane.reserve(most);
  }

  private HandlerQueue create(String name) {
    HandlerQueue lane = factory.create(config.withName(name), () -> unused(name));
    lanes.put(name, lane);
    return lane;
  }

  /** Has the place of a lane that has nothing to do taken by the next name that waits for one. */
  private void unused(String name) {
    HandlerQueue next;
    synchronized (this) {
      HandlerQueue lane = lanes.get(name);
      if (lane == null || !lane.isUnused()) {
        return;
      }
      lanes.remove(name);
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
        HandlerQueue lane = lanes.get(first.getKey());
        lane = lane == null ? create(first.getKey()) : lane;
        for (; entry != null; entry = first.getValue().poll()) {
          lane.offer(entry);
        }
        return lane;
      }
    }
    return null;
  }

  /** Forgets names whose entries no longer hold. */
  synchronized void upkeep() {
    waiting.values().forEach(DueQueue::sweep);
    waiting.values().removeIf(DueQueue::isEmpty);
  }

  /** Lets no more lanes begin. */
  synchronized void close() {
    closed = true;
    waiting.clear();
  }

  synchronized int waiting() {
    return waiting.values().stream().mapToInt(DueQueue::size).sum();
  }

  synchronized @Nullable HandlerQueue lane(String name) {
    return lanes.get(name);
  }

  synchronized List<HandlerQueue> lanes() {
    return List.copyOf(lanes.values());
  }
}
