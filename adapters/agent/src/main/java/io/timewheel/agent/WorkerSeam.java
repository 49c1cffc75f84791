// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.util.Collection;
import java.util.Set;

/**
 * The members that {@link Weaver} adds to the worker of a {@code HashedWheelTimer}; see {@link
 * TimerSeam}.
 */
@SuppressWarnings({"unused", "NullAway"})
final class WorkerSeam {
  private Set<Object> unprocessedTimeouts;

  /** Receives the timeouts that {@code stop()} returns. */
  @Woven
  void timewheelLeft(Collection<Object> left) {
    unprocessedTimeouts.addAll(left);
  }
}
