// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.Change;

/** What a person may ask for, of one timer or of many. */
public enum Verb {
  /** Starts no attempt that is not claimed yet. */
  PAUSE,
  /** Ends a pause; overdue timers fire. */
  RESUME,
  /** Fires now, and leaves the schedule of a recurring timer alone. */
  RUN,
  /** Fires failed or blocked timers, with attempts counted anew. */
  RETRY;

  Change.Verb.What what() {
    return Change.Verb.What.valueOf(name());
  }
}
