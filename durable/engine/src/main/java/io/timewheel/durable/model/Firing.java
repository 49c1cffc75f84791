// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import java.time.Instant;
import java.util.Map;

/** One attempt of one run of a timer. The engine passes it to the handler. */
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

  /** {@return the name of the handler; for a handler of a prefix, the whole name} */
  String handler();

  /** {@return the number of the attempt within its run, from 1} */
  int attempt();

  /** {@return the scheduled time of this run} */
  Instant scheduledAt();

  /** {@return the time at which this attempt began} */
  Instant firedAt();

  /** {@return whether this attempt began more than a second after the scheduled time} */
  boolean isLate();

  /**
   * {@return whether this is a catch-up run} It is one if its first attempt began later than its
   * grace after the scheduled time. For a queue, the first claim of a consumer counts. The result
   * is the same for all attempts of a run, however long a retry has waited. After 100 attempts it
   * is always false.
   */
  boolean isCatchUp();

  /** {@return the payload of the timer; not copied, so the handler must not change it} */
  byte[] payload();

  /** {@return the headers of the timer} */
  Map<String, String> headers();

  /** {@return the identity of this run, the same for all its attempts} */
  default FireId fireId() {
    return new FireId(key(), version(), scheduledAt().toEpochMilli());
  }

  /**
   * Fires this run again at another time, once the handler has returned. Attempts are counted from
   * 1 again. The other runs of a recurring timer keep their times; those that become due before the
   * postponed run has ended count as missed. If the time is one of the schedule itself, the
   * postponed run fires a millisecond later, with a fire ID of its own.
   *
   * @param at the time
   * @throws IllegalArgumentException if the time is out of range
   */
  void reschedule(Instant at);

  /**
   * Fails this run when the handler returns, even if it has attempts left.
   *
   * @param reason the reason, which the history of the timer keeps
   */
  void giveUp(String reason);

  /**
   * Delays the next attempt of this run at least until a time, if this attempt fails, for example
   * because a service sent {@code Retry-After}. It begins later if the retry policy requires that.
   *
   * @param at the time; at most a year ahead, a later one counts as a year
   */
  void retryNotBefore(Instant at);

  /**
   * Gives this attempt back when the handler returns, because it could not begin its work. The
   * attempt does not count, and the run is attempted again. A failure after this call is ignored.
   *
   * @param at the earliest time of the next attempt; another node may begin it sooner
   */
  void giveBack(Instant at);
}
