// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import java.util.List;

/**
 * Asks for ready timers of a queue.
 *
 * @param namespace the namespace of the queue
 * @param queue its name
 * @param tokens a token for each timer that is wanted, at most
 * @param until when the leases end
 * @param now the time of the claim
 */
public record LeaseRequest(
    String namespace, String queue, List<ClaimToken> tokens, long until, long now) {
  /**
   * Copies the list.
   *
   * @param namespace the namespace of the queue
   * @param queue its name
   * @param tokens a token for each timer that is wanted, at most
   * @param until when the leases end
   * @param now the time of the claim
   */
  public LeaseRequest {
    requireNonNull(namespace, "namespace");
    requireNonNull(queue, "queue");
    tokens = List.copyOf(tokens);
  }
}
