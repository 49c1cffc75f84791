// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Shares concurrency slots among the handlers of one prefix. An attempt needs a slot before it is
 * claimed, so a timer without a slot waits and uses no attempt.
 *
 * <p>The engine holds a lock while it calls the methods, so they must not block or call the engine.
 * Whenever a slot is released, it asks again for the refused names, the longest refused first. If
 * {@code acquire} throws, the name is refused, and the engine also asks again within a minute.
 */
public interface HandlerSlots {
  /**
   * Takes a slot for one attempt.
   *
   * @param handler the whole name of the handler
   * @return false if no slot is free for the handler
   */
  boolean acquire(String handler);

  /**
   * Gives a slot back.
   *
   * @param handler the whole name of the handler
   */
  void release(String handler);

  /**
   * Returns slots for any handler that asks.
   *
   * @param total the number of slots
   * @return the slots
   */
  static HandlerSlots atMost(int total) {
    if (total < 1) {
      throw new IllegalArgumentException("total: " + total + " (expected: at least 1)");
    }
    AtomicInteger left = new AtomicInteger(total);
    return new HandlerSlots() {
      @Override
      public boolean acquire(String handler) {
        return left.getAndUpdate(slots -> Math.max(0, slots - 1)) > 0;
      }

      @Override
      public void release(String handler) {
        left.incrementAndGet();
      }
    };
  }
}
