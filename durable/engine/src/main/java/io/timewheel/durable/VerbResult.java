// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

/** What came of pausing, resuming, running, retrying or moving a timer. */
public enum VerbResult {
  /** It was done. */
  DONE,
  /** There was nothing to do. */
  UNCHANGED,
  /** The state of the timer does not allow it. */
  WRONG_STATE,
  /** The timer has another version than the call asked for. */
  VERSION_DIFFERS,
  /** There is no such timer. */
  NOT_FOUND
}
