// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.internal.handler.HandlerAttempt;
import io.timewheel.durable.model.FireId;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.TimerKey;
import java.time.Instant;
import java.util.Map;

/**
 * Describes one attempt of one run of a timer, for a handler in a transaction. Like a {@link
 * Firing}, but its decision is recorded in the transaction.
 */
public final class TransactionFiring {
  private final HandlerAttempt running;
  private final Firing firing;

  TransactionFiring(HandlerAttempt running) {
    this.running = running;
    firing = running.firing();
  }

  /** {@return the identity of the timer} */
  public TimerKey key() {
    return firing.key();
  }

  /** {@return the namespace of the timer} */
  public String namespace() {
    return firing.namespace();
  }

  /** {@return the id of the timer} */
  public String id() {
    return firing.id();
  }

  /** {@return the version of the timer} */
  public long version() {
    return firing.version();
  }

  /** {@return the number of this attempt within its run; the first is 1} */
  public int attempt() {
    return firing.attempt();
  }

  /** {@return the time for which this run is scheduled} */
  public Instant scheduledAt() {
    return firing.scheduledAt();
  }

  /** {@return when this attempt began} */
  public Instant firedAt() {
    return firing.firedAt();
  }

  /** {@return true if this attempt began more than a second after the scheduled time} */
  public boolean isLate() {
    return firing.isLate();
  }

  /** {@return true if this is a catch-up run} */
  public boolean isCatchUp() {
    return firing.isCatchUp();
  }

  /** {@return the payload of the timer; not copied, and must not be changed} */
  public byte[] payload() {
    return firing.payload();
  }

  /** {@return the headers of the timer} */
  public Map<String, String> headers() {
    return firing.headers();
  }

  /** {@return the identity of this run, the same for all its attempts} */
  public FireId fireId() {
    return firing.fireId();
  }

  /**
   * Reschedules this run, like {@link Firing#reschedule}. The effects of the handler are committed.
   *
   * @param at the new time
   * @throws IllegalArgumentException if the time is never reached
   */
  public void reschedule(Instant at) {
    running.reschedule(at);
  }

  /** {@return timer, attempt and scheduled time; not the payload} */
  @Override
  public String toString() {
    return firing.toString();
  }
}
