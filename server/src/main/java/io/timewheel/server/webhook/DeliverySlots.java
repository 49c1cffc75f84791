// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import io.timewheel.durable.model.HandlerSlots;
import java.util.HashMap;
import java.util.Map;

/**
 * Shares the slots of deliveries fairly between namespaces and hosts, by dynamic thresholds: what
 * one of them may hold shrinks with what is free, so some slots are free for the others however
 * many of its hosts are slow.
 *
 * <ul>
 *   <li>A namespace holds at most as many slots as are free.
 *   <li>A host of a namespace holds at most one in {@value #HOST_SHARE} of the slots that its
 *       namespace may still take, and may always hold one of them.
 *   <li>A host holds at most {@value #MAX_PER_HOST} slots, of which a namespace may hold as many as
 *       are free.
 * </ul>
 *
 * <p>With one slow namespace half of all slots are free, and with {@code n} of them one in {@code n
 * + 1}. A host of 512 slow ones holds 1 slot, and its namespace has slots left for others.
 */
final class DeliverySlots implements HandlerSlots {
  /** How many deliveries are claimed or under way at a time, at most. */
  static final int MAX = 2_048;

  /** How many of them are to one host, on all of its ports and for all namespaces. */
  static final int MAX_PER_HOST = 64;

  private static final int HOST_SHARE = 32;

  private final Map<String, Integer> byNamespace = new HashMap<>();
  private final Map<String, Integer> byHost = new HashMap<>();
  private final Map<String, Integer> byHandler = new HashMap<>();
  private int held;

  @Override
  public synchronized boolean acquire(String handler) {
    DeliveryName name = DeliveryName.of(handler);
    int ofNamespace = byNamespace.getOrDefault(name.namespace(), 0);
    int ofHost = byHost.getOrDefault(name.host(), 0);
    int ofHandler = byHandler.getOrDefault(handler, 0);
    int room = MAX - held - ofNamespace;
    int hostRoom = MAX_PER_HOST - ofHost - ofHandler;
    if (room <= 0 || hostRoom <= 0 || ofHandler >= Math.max(1, room / HOST_SHARE)) {
      return false;
    }
    held++;
    byNamespace.merge(name.namespace(), 1, Integer::sum);
    byHost.merge(name.host(), 1, Integer::sum);
    byHandler.merge(handler, 1, Integer::sum);
    return true;
  }

  @Override
  public synchronized void release(String handler) {
    DeliveryName name = DeliveryName.of(handler);
    held--;
    decrement(byNamespace, name.namespace());
    decrement(byHost, name.host());
    decrement(byHandler, handler);
  }

  private static void decrement(Map<String, Integer> counts, String key) {
    counts.computeIfPresent(key, (same, count) -> count == 1 ? null : count - 1);
  }

  /** {@return whether nothing is held} */
  synchronized boolean isEmpty() {
    return held == 0 && byNamespace.isEmpty() && byHost.isEmpty() && byHandler.isEmpty();
  }
}
