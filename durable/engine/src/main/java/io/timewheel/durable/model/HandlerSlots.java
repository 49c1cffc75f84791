// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Shares concurrency slots among the handlers of one prefix. An attempt is claimed only with a
 * slot, so a timer whose handler gets none waits and uses up no attempt.
 *
 * <p>The engine calls both methods with a lock: they must not block, nor call the engine. It asks
 * again for refused names, the longest refused first, whenever a slot was released.
 */
public interface HandlerSlots {
  /**
   * Takes a slot for one attempt.
   *
   * @param handler the whole name of the handler
   * @return false if the handler gets none at present
   */
  boolean acquire(String handler);

  /**
   * Gives a slot back.
   *
   * @param handler the whole name of the handler
   */
  void release(String handler);

  /**
   * Returns slots that are given to whichever handler asks.
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
