// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;

/**
 * An entry of the due index: enough to wait for a timer's time, and to begin what is to be done
 * then. {@link TimerStore#releasable} returns timers without a place in the index in this form,
 * too: they are BLOCKED or PAUSED.
 *
 * @param key the identity of the timer
 * @param fireAt its place in the index
 * @param version the version of the record that was read
 * @param revision the revision of the record that was read
 * @param state its state: SCHEDULED, RETRYING or RUNNING
 * @param handler the handler or queue
 * @param queue whether that is a queue
 * @param recurring whether the timer fires more than once
 * @param deferred whether {@link TimerRecord#isDeferred} says so
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
   * @param fireAt its place in the index
   * @param version the version of the record that was read
   * @param revision the revision of the record that was read
   * @param state its state: SCHEDULED, RETRYING or RUNNING
   * @param handler the handler or queue
   * @param queue whether that is a queue
   * @param recurring whether the timer fires more than once
   * @param deferred whether {@link TimerRecord#isDeferred} says so
   */
  public DueTimer {
    requireNonNull(key, "key");
    requireNonNull(state, "state");
    requireNonNull(handler, "handler");
  }

  /**
   * Whether this reading of a timer is newer than another one.
   *
   * @param other another reading of the same timer
   * @return true if a change came between the two
   */
  public boolean isNewerThan(DueTimer other) {
    return version != other.version ? version > other.version : revision > other.revision;
  }

  /** {@return where a scan goes on after this entry} */
  public DuePosition position() {
    return new DuePosition(fireAt, key);
  }
}
