// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

/** The states of a durable timer. */
public enum TimerState {
  /** The timer waits for its time. */
  SCHEDULED,
  /** The timer of a queue is due, and no consumer has claimed it. */
  READY,
  /** An attempt is claimed and still open. */
  RUNNING,
  /** An attempt failed, and the timer waits for the next one. */
  RETRYING,
  /**
   * The attempts are exhausted, or the handler gave up. The timer is kept until it is retried or
   * cancelled.
   */
  FAILED,
  /** The timer is due, but no node has its handler. It is kept until a node has the handler. */
  BLOCKED,
  /** The timer does not fire until it is resumed. */
  PAUSED,
  /** The timer has completed. It is retained for a while. */
  COMPLETED,
  /** The timer was cancelled, and no further attempt begins. It is retained for a while. */
  CANCELLED;

  /** {@return whether the timer is completed or cancelled} */
  public boolean isFinished() {
    return this == COMPLETED || this == CANCELLED;
  }
}
