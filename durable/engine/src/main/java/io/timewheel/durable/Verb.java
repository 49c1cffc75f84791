// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.Change;

/** The commands of an operator, for one timer or for many. */
public enum Verb {
  /** Pauses the timer: no attempt starts, except one that is already claimed. */
  PAUSE,
  /** Ends the pause. An overdue timer fires. */
  RESUME,
  /** Fires the timer now. The schedule of a recurring timer stays the same. */
  RUN,
  /** Fires a failed or blocked timer. Its attempts are counted from 1 again. */
  RETRY;

  Change.Verb.Command command() {
    return Change.Verb.Command.valueOf(name());
  }
}
