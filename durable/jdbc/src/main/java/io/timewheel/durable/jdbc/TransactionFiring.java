// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.internal.handler.HandlerAttempt;
import io.timewheel.durable.model.FireId;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.TimerKey;
import java.time.Instant;
import java.util.Map;

/**
 * What a handler in a transaction is given: one attempt of one run of a timer. It is a {@link
 * Firing} whose decision is recorded in the transaction.
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

  /** {@return which attempt of this run it is; the first is 1} */
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

  /** {@return whether this attempt began more than a second after the scheduled time} */
  public boolean isLate() {
    return firing.isLate();
  }

  /** {@return whether this run was missed, and is caught up now} */
  public boolean isCatchUp() {
    return firing.isCatchUp();
  }

  /** {@return the bytes that the timer was scheduled with; not copied, and must not be changed} */
  public byte[] payload() {
    return firing.payload();
  }

  /** {@return the headers that the timer was scheduled with} */
  public Map<String, String> headers() {
    return firing.headers();
  }

  /** {@return the identity of this run, the same for all its attempts} */
  public FireId fireId() {
    return firing.fireId();
  }

  /**
   * Reschedules this run, as {@link Firing#reschedule} does. The effects of the handler are
   * committed.
   *
   * @param at when
   * @throws IllegalArgumentException if that never comes
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
