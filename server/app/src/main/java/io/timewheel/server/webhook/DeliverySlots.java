// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import io.timewheel.durable.model.HandlerSlots;
import java.util.HashMap;
import java.util.Map;

/**
 * Shares the slots of deliveries fairly between namespaces and hosts by dynamic thresholds. The
 * fewer slots are free, the fewer one namespace or host may hold. So some slots stay free for
 * others, even if many hosts are slow.
 *
 * <ul>
 *   <li>The share of a namespace is a third of the slots that are free or that it holds. So a
 *       namespace holds at most half as many slots as are free.
 *   <li>A host of a namespace gets its first slot whenever the share has one left. It gets further
 *       slots only while more than half of the share is left. The more slots it holds, the more of
 *       the share must be left. So 700 slow hosts leave slots for another host.
 *   <li>A host holds at most {@value #MAX_PER_HOST} slots. Of these, a namespace may hold as many
 *       as are free.
 * </ul>
 */
final class DeliverySlots implements HandlerSlots {
  /** The largest number of claimed or running deliveries. */
  static final int MAX = 4_096;

  /** The largest number of deliveries to one host, on all its ports and for all namespaces. */
  static final int MAX_PER_HOST = 64;

  /**
   * If a host of a namespace holds this many slots, it gets another one only if the whole share is
   * left.
   */
  private static final int STEEPNESS = 80;

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
    int share = (MAX - held + ofNamespace) / 3;
    int left = share - ofNamespace;
    boolean fair = ofHandler == 0 || STEEPNESS * left >= share * (STEEPNESS / 2 + ofHandler);
    if (left <= 0 || !fair || MAX_PER_HOST - ofHost - ofHandler <= 0) {
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

  /** {@return whether no slot is held} */
  synchronized boolean isEmpty() {
    return held == 0 && byNamespace.isEmpty() && byHost.isEmpty() && byHandler.isEmpty();
  }
}
