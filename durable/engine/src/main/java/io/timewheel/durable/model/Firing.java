// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import java.time.Instant;
import java.util.Map;

/** One attempt of one run of a timer, as its handler gets it. The engine makes it. */
public interface Firing {
  /** {@return the identity of the timer} */
  TimerKey key();

  /** {@return the namespace of the timer} */
  default String namespace() {
    return key().namespace();
  }

  /** {@return the id of the timer} */
  default String id() {
    return key().id();
  }

  /** {@return the version of the timer} */
  long version();

  /** {@return the name of the handler: of a handler for a prefix, the whole name} */
  String handler();

  /** {@return which attempt of this run it is; the first is 1} */
  int attempt();

  /** {@return the time for which this run is scheduled} */
  Instant scheduledAt();

  /** {@return when this attempt began} */
  Instant firedAt();

  /** {@return whether this attempt began more than a second after the scheduled time} */
  boolean isLate();

  /**
   * {@return whether this run was missed, and is caught up now} It was if its first attempt began
   * later than its grace after the scheduled time; for a queue, when a consumer first claimed it.
   * It is the same for all attempts of a run, however long a retry has waited; after 100 attempts
   * it is no longer known, and false.
   */
  boolean isCatchUp();

  /** {@return the bytes that the timer was scheduled with; not copied, and must not be changed} */
  byte[] payload();

  /** {@return the headers that the timer was scheduled with} */
  Map<String, String> headers();

  /** {@return the identity of this run, the same for all its attempts} */
  default FireId fireId() {
    return new FireId(key(), version(), scheduledAt().toEpochMilli());
  }

  /**
   * Has this run fire again at another time, with attempts counted anew, when the handler returns.
   * The other runs of a recurring timer stay where they are; those that become due before the
   * postponed one has ended were missed. At a time of the series itself it fires a millisecond
   * later, as a run with an identity of its own.
   *
   * @param at when
   * @throws IllegalArgumentException if that never comes
   */
  void reschedule(Instant at);

  /**
   * Fails this run when the handler returns, whatever attempts are left.
   *
   * @param reason the reason, which the history of the timer keeps
   */
  void giveUp(String reason);

  /**
   * Has the next attempt of this run begin no earlier than at a time, if this one fails, as a
   * service asks for with {@code Retry-After}. It begins later if the retry policy wants that.
   *
   * @param at when; a time more than a year ahead counts as a year
   */
  void retryNotBefore(Instant at);

  /**
   * Ends this attempt uncounted when the handler returns, because it could not begin its work: the
   * run is attempted again. A failure after this call is ignored.
   *
   * @param at the earliest time of the next attempt; another node may begin it sooner
   */
  void giveBack(Instant at);
}
