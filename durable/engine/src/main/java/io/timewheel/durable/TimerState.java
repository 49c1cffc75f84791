// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

/** What a durable timer is doing. */
public enum TimerState {
  /** Waits for its time. */
  SCHEDULED,
  /** Due, for a queue, and not yet claimed by a consumer. */
  READY,
  /** An attempt was claimed, and its end is not recorded. */
  FIRING,
  /** An attempt failed; waits for the next one. */
  RETRYING,
  /** Its attempts are exhausted, or a handler gave up. Kept until revived or cancelled. */
  SET_ASIDE,
  /** Due, but no node knows its handler. Kept until one does. */
  PARKED,
  /** Does not fire until it is resumed. */
  PAUSED,
  /** Its completion is recorded. Remembered for a while. */
  DONE,
  /** Cancelled: no attempt begins any more. Remembered for a while. */
  CANCELLED;

  /** {@return whether nothing will happen to the timer any more: done or cancelled} */
  public boolean isFinished() {
    return this == DONE || this == CANCELLED;
  }
}
