// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

/**
 * Asks for ready timers of one queue.
 *
 * @param namespace the namespace of the queue
 * @param queue the name of the queue
 * @param max the largest number of timers to claim, 1 or more
 * @param untilMillis when the claim leases end
 */
public record LeaseRequest(String namespace, String queue, int max, long untilMillis) {
  /**
   * Checks that the queue has a name.
   *
   * @param namespace the namespace of the queue
   * @param queue the name of the queue
   * @param max the largest number of timers to claim, 1 or more
   * @param untilMillis when the claim leases end
   */
  public LeaseRequest {
    requireNonNull(namespace, "namespace");
    requireNonNull(queue, "queue");
    if (max < 1) {
      throw new IllegalArgumentException("max: " + max + " (expected: 1 or more)");
    }
  }
}
