// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.model.HandlerSlots;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The concurrency slots of one handler. Each claim takes one until its attempt has ended. Up to
 * twice the limit are taken, so that a free slot does not wait for the store. The handler claims
 * again when a quarter of the attempts has ended, so that one commit claims many. Thread-safe.
 */
final class SlotBudget {
  private final String handler;
  private final int limit;
  private final @Nullable Shared shared;
  private int taken;

  /** The number of slots that are taken or reserved for leased timers. */
  private int leased;

  /** True while the handler claims until it has twice the limit. */
  private boolean filling = true;

  /**
   * @param shared the slots that the handler shares with others, in addition to its own limit
   */
  SlotBudget(String handler, int limit, @Nullable Shared shared) {
    this.handler = handler;
    this.limit = limit;
    this.shared = shared;
  }

  /** Takes a slot for a claim. Returns false if none is free. */
  synchronized boolean acquire() {
    filling &= taken < 2L * limit;
    filling |= taken <= limit + limit / 2;
    boolean acquired = filling && acquireShared();
    taken += acquired ? 1 : 0;
    return acquired;
  }

  private boolean acquireShared() {
    return shared == null || shared.acquire(handler);
  }

  /**
   * Reserves slots for timers that will be leased: the free slots, and always a quarter of the
   * limit. So timers of this node's own shards never take all slots.
   *
   * @return the number of reserved slots; 0 if none is free
   */
  synchronized int reserve(int most) {
    int quarter = (limit + 3) / 4;
    int room = Math.max(limit - taken, quarter - leased);
    int reserved = 0;
    while (reserved < Math.min(most, room) && acquireShared()) {
      reserved++;
    }
    taken += reserved;
    leased += reserved;
    return reserved;
  }

  /**
   * Frees slots. Called without a lock, because other handlers may take shared slots at once.
   *
   * @param ofLeases the number of them that were reserved for leased timers
   */
  void release(int slots, int ofLeases) {
    synchronized (this) {
      taken -= slots;
      leased -= ofLeases;
    }
    if (shared != null) {
      shared.release(handler, slots);
    }
  }

  synchronized boolean isUnused() {
    return taken == 0;
  }

  /**
   * Slots that several handlers share, and the handlers that were refused a slot. A released slot
   * is offered to these handlers in the order of their refusal, before the handler that released it
   * can ask again.
   *
   * <p>The slots are code of the application. If they throw, the handler is refused a slot.
   */
  static final class Shared {
    private static final System.Logger LOG = GuardedLog.LOG;

    private final HandlerSlots slots;
    private final Consumer<String> offer;

    /** The refused handlers, each with the number of its refusals. */
    private final Map<String, Integer> refused = new LinkedHashMap<>();

    /** The handlers for which the slots threw, so that the log shows this once for each. */
    private final Set<String> failed = new HashSet<>();

    /** True while a thread offers released slots. */
    private boolean offering;

    /** True if a slot was released after the refused handlers were last asked. */
    private boolean released;

    /**
     * @param offer receives a refused handler, which may ask again; called without a lock
     */
    Shared(HandlerSlots slots, Consumer<String> offer) {
      this.slots = slots;
      this.offer = offer;
    }

    synchronized boolean acquire(String handler) {
      boolean acquired = false;
      try {
        acquired = slots.acquire(handler);
        failed.remove(handler);
      } catch (Throwable e) {
        if (failed.add(handler)) {
          failed(handler, e);
        }
      }
      if (acquired) {
        refused.remove(handler);
      } else {
        refused.merge(handler, 1, Integer::sum);
      }
      return acquired;
    }

    private static void failed(String handler, Throwable why) {
      LOG.log(System.Logger.Level.ERROR, "the shared slots fail for the handler " + handler, why);
    }

    void release(String handler, int count) {
      synchronized (this) {
        for (int i = 0; i < count; i++) {
          try {
            slots.release(handler);
          } catch (Throwable e) {
            failed(handler, e);
          }
        }
        released |= count > 0;
        if (offering || !released) {
          return; // the offering thread asks again
        }
        offering = true;
      }
      for (List<String> names = nextOffers(); !names.isEmpty(); names = nextOffers()) {
        names.forEach(this::offer);
      }
    }

    /** Returns the handlers to ask; empty if no slot was released since the last time. */
    private synchronized List<String> nextOffers() {
      List<String> names = released ? List.copyOf(refused.keySet()) : List.of();
      released = false;
      offering = !names.isEmpty();
      return names;
    }

    private void offer(String handler) {
      Integer refusals;
      synchronized (this) {
        refusals = refused.get(handler);
      }
      try {
        offer.accept(handler);
      } catch (RuntimeException | Error e) { // the other handlers must continue
        LOG.log(System.Logger.Level.ERROR, "after a slot for the handler " + handler, e);
      }
      synchronized (this) {
        if (refusals != null) {
          refused.remove(handler, refusals); // it has not asked, so it needs no slot
        }
      }
    }
  }
}
