// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

/** The result of pausing, resuming, running, retrying or moving a timer. */
public enum VerbResult {
  /** The change was applied. */
  DONE,
  /** There was nothing to change. */
  UNCHANGED,
  /** The state of the timer does not allow the change. */
  WRONG_STATE,
  /** The timer does not have the version that the call requires. */
  VERSION_DIFFERS,
  /** The timer does not exist. */
  NOT_FOUND
}
