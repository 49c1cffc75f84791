// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import org.jspecify.annotations.Nullable;

/**
 * A request for ready timers of one queue, or of one handler in all namespaces.
 *
 * @param namespace the namespace of the queue, or {@link #ALL_NAMESPACES} for a handler
 * @param queue the name of the queue or handler
 * @param max the largest number of timers to claim, 1 or more
 * @param untilMillis the expiry of the claim leases
 * @param limit the limit of the queue for all sessions together; null if there is none
 */
public record LeaseRequest(
    String namespace, String queue, int max, long untilMillis, @Nullable SharedLimit limit) {
  /** The namespace in a request for timers of a handler. */
  public static final String ALL_NAMESPACES = "";

  /**
   * Creates a request without a limit.
   *
   * @param namespace the namespace of the queue, or {@link #ALL_NAMESPACES} for a handler
   * @param queue the name of the queue or handler
   * @param max the largest number of timers to claim, 1 or more
   * @param untilMillis the expiry of the claim leases
   */
  public LeaseRequest(String namespace, String queue, int max, long untilMillis) {
    this(namespace, queue, max, untilMillis, null);
  }

  /**
   * Checks that the queue has a name.
   *
   * @param namespace the namespace of the queue, or {@link #ALL_NAMESPACES} for a handler
   * @param queue the name of the queue or handler
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

  /** {@return whether it requests timers of a handler} */
  public boolean isForHandler() {
    return namespace.equals(ALL_NAMESPACES);
  }

  /** {@return the namespace and the name} */
  public TimerKey source() {
    return new TimerKey(namespace, queue);
  }

  /**
   * Returns the source of requests for a ready timer.
   *
   * @param record the timer
   * @return the namespace and the name of its queue, or {@link #ALL_NAMESPACES} and its handler
   */
  public static TimerKey source(TimerRecord record) {
    TimerDefinition definition = record.definition();
    return new TimerKey(
        definition.queue() ? record.key().namespace() : ALL_NAMESPACES, definition.handler());
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
