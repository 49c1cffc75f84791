// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * Asks for ready timers of one queue.
 *
 * @param namespace the namespace of the queue
 * @param queue the name of the queue
 * @param max the largest number of timers to claim, 1 or more
 * @param untilMillis when the claim leases end
 * @param limit the limit of the queue, in all sessions; null if there is none
 */
public record LeaseRequest(
    String namespace, String queue, int max, long untilMillis, @Nullable SharedLimit limit) {
  /**
   * Asks for ready timers of a queue without a limit.
   *
   * @param namespace the namespace of the queue
   * @param queue the name of the queue
   * @param max the largest number of timers to claim, 1 or more
   * @param untilMillis when the claim leases end
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
   * @param untilMillis when the claim leases end
   * @param limit the limit of the queue, in all sessions; null if there is none
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
   * Returns the request with another number.
   *
   * @param newMax the largest number of timers to claim, 1 or more
   * @return the request
   */
  public LeaseRequest max(int newMax) {
    return new LeaseRequest(namespace, queue, newMax, untilMillis, limit);
  }
}
