// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import java.util.EnumSet;
import java.util.Set;

/** A set of permissions. A token has one role or more. A route is open to one role or more. */
public enum Role {
  /** Reads the metrics. */
  METRICS,
  /** Reads everything. */
  READ(METRICS),
  /** Creates, changes and cancels timers. */
  PRODUCE,
  /** Claims firings and ends their claim leases. */
  CONSUME,
  /** Reads everything; pauses, resumes, runs, retries, changes and cancels timers. */
  OPERATE(METRICS, READ),
  /** Has all permissions, including backups. */
  ADMIN(METRICS, READ, PRODUCE, CONSUME, OPERATE);

  @SuppressWarnings("ImmutableEnumChecker") // an unmodifiable set
  private final Set<Role> included;

  Role(Role... others) {
    included = Set.of(others);
  }

  /** {@return whether a caller with this role may use a route for these roles} */
  public boolean isAnyOf(Set<Role> roles) {
    return roles.contains(this) || included.stream().anyMatch(roles::contains);
  }

  public static Set<Role> all() {
    return EnumSet.allOf(Role.class);
  }
}
