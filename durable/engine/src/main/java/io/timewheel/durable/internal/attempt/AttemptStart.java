// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

/** The next step of a claimed attempt. */
enum AttemptStart {
  NOW,
  /** It was claimed ahead of its time. */
  LATER,
  GIVEN_BACK,
  /** All attempts of its run were lost. */
  LOST;

  /**
   * Decides about an attempt.
   *
   * @param lost true if all attempts of its run were lost
   * @param stopped true if it must not begin here, or not at present
   * @param earlyMillis the time until it is due
   * @param maxEarlyMillis the longest time for which an attempt waits with its slot
   */
  static AttemptStart decide(boolean lost, boolean stopped, long earlyMillis, long maxEarlyMillis) {
    if (lost) {
      return LOST;
    } else if (stopped || earlyMillis > maxEarlyMillis) {
      return GIVEN_BACK;
    }
    return earlyMillis > 0 ? LATER : NOW;
  }
}
