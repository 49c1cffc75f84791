// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * A request for ready timers of one queue.
 *
 * @param namespace the namespace of the queue
 * @param queue the name of the queue
 * @param max the largest number of timers to claim, 1 or more
 * @param untilMillis the expiry of the claim leases
 * @param limit the limit of the queue for all sessions together; null if there is none
 */
public record LeaseRequest(
    String namespace, String queue, int max, long untilMillis, @Nullable SharedLimit limit) {
  /**
   * Creates a request for a queue without a limit.
   *
   * @param namespace the namespace of the queue
   * @param queue the name of the queue
   * @param max the largest number of timers to claim, 1 or more
   * @param untilMillis the expiry of the claim leases
   */
  public LeaseRequest(String namespace, String queue, int max, long untilMillis) {
    this(namespace, queue, max, untilMillis, null);
  }

  /**
   * Checks that the queue has a name.
   *
   * @param namespace the namespace of the queue
   * @param queue the name of the queue
   * @param max the largest number of timers to claim, 1 or more
   * @param untilMillis the expiry of the claim leases
   * @param limit the limit of the queue for all sessions together; null if there is none
   */
  public LeaseRequest {
    requireNonNull(namespace, "namespace");
    requireNonNull(queue, "queue");
    if (max < 1) {
      throw new IllegalArgumentException("max: " + max + " (expected: 1 or more)");
    }
  }

  /** {@return the queue as a scope} */
  public String scope() {
    return Scopes.queue(namespace, queue);
  }

  /**
   * Returns the request with another maximum.
   *
   * @param newMax the largest number of timers to claim, 1 or more
   * @return the request
   */
  public LeaseRequest max(int newMax) {
    return new LeaseRequest(namespace, queue, newMax, untilMillis, limit);
  }
}
