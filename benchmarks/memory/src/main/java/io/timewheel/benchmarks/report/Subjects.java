// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import io.timewheel.benchmarks.workloads.Workload;
import java.util.Set;

/** The roles of the subjects. */
final class Subjects {
  /** The timer with which all others are compared. */
  static final String US = "timewheel";

  static final String HASHED = "timewheel-hashed";

  static final Set<String> OURS = Set.of(US, HASHED, "timewheel-polled");

  private static final String KEYED = "expirations";
  private static final Set<String> PATTERNS =
      Set.of(KEYED, "requests", "retries", "heartbeats", "leases");
  static final String NETTY = "netty42";
  static final String SCHEDULED_THREAD_POOL = "stpe";
  static final String FLOOR = "floor";
  static final String LOCKED_FLOOR = "locked-floor";
  static final String EMPTY = "empty";

  private static final Set<String> BOUNDS = Set.of(FLOOR, LOCKED_FLOOR, EMPTY);
  private static final Set<String> PASSIVE = Set.of("agrona");

  enum Kind {
    US,
    /** Another timer of ours, or a pattern on one. */
    SIBLING,
    /** An alternative to our timer: it is thread-safe, and runs the tasks. */
    PEER,
    /**
     * A wheel for one thread, without a lock and without its own thread: displayed, but not a peer.
     */
    PASSIVE,
    /** Not a timer: the cost of the measurement itself. */
    BOUND
  }

  private Subjects() {}

  /** Returns the subject with which all others are compared: with keys, it is not a bare timer. */
  static String us(Workload workload) {
    return workload == Workload.PATTERNS ? KEYED : US;
  }

  static Kind kind(String id) {
    if (id.equals(US)) {
      return Kind.US;
    } else if (OURS.contains(id) || PATTERNS.contains(id)) {
      return Kind.SIBLING;
    } else if (BOUNDS.contains(id)) {
      return Kind.BOUND;
    } else if (PASSIVE.contains(id)) {
      return Kind.PASSIVE;
    }
    return Kind.PEER;
  }
}
