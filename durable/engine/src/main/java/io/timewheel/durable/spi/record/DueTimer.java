// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerStore;

/**
 * An entry of the due index: the fields that the engine needs to wait for a timer and to claim it.
 * {@link TimerStore#releasable} also returns this form, for BLOCKED and PAUSED timers, which have
 * no position in the index.
 *
 * @param key the identity of the timer
 * @param fireAt its time in the index
 * @param version the version of the record that was read
 * @param revision the revision of the record that was read
 * @param state its state
 * @param handler the handler or queue
 * @param queue true if {@code handler} is a queue
 * @param recurring true if the timer fires more than once
 * @param deferred the result of {@link TimerRecord#isDeferred}
 */
public record DueTimer(
    TimerKey key,
    long fireAt,
    long version,
    long revision,
    TimerState state,
    String handler,
    boolean queue,
    boolean recurring,
    boolean deferred) {
  /**
   * Checks that nothing is null.
   *
   * @param key the identity of the timer
   * @param fireAt its time in the index
   * @param version the version of the record that was read
   * @param revision the revision of the record that was read
   * @param state its state
   * @param handler the handler or queue
   * @param queue true if {@code handler} is a queue
   * @param recurring true if the timer fires more than once
   * @param deferred the result of {@link TimerRecord#isDeferred}
   */
  public DueTimer {
    requireNonNull(key, "key");
    requireNonNull(state, "state");
    requireNonNull(handler, "handler");
  }

  /**
   * Returns whether this reading of a timer is newer than another one.
   *
   * @param other another reading of the same timer
   * @return true if the timer changed between the two
   */
  public boolean isNewerThan(DueTimer other) {
    return version != other.version ? version > other.version : revision > other.revision;
  }

  /** {@return the position at which a scan continues after this entry} */
  public DuePosition position() {
    return new DuePosition(fireAt, key);
  }
}
