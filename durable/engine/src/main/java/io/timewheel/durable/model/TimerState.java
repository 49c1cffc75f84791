// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

/** What a durable timer is doing. */
public enum TimerState {
  /** Waits for its time. */
  SCHEDULED,
  /** Due, for a queue, and not yet claimed by a consumer. */
  READY,
  /** An attempt was claimed, and its end is not recorded. */
  RUNNING,
  /** An attempt failed; waits for the next one. */
  RETRYING,
  /** Its attempts are exhausted, or a handler gave up. Kept until retried or cancelled. */
  FAILED,
  /** Due, but no node knows its handler. Kept until one does. */
  BLOCKED,
  /** Does not fire until it is resumed. */
  PAUSED,
  /** Its completion is recorded. Remembered for a while. */
  COMPLETED,
  /** Cancelled: no attempt begins any more. Remembered for a while. */
  CANCELLED;

  /** {@return whether nothing will happen to the timer any more: done or cancelled} */
  public boolean isFinished() {
    return this == COMPLETED || this == CANCELLED;
  }
}
