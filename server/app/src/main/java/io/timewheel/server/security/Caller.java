// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import io.timewheel.server.settings.Quota;
import java.util.Set;

/**
 * The caller of a request.
 *
 * @param name the name in the audit log
 * @param roles the permissions
 * @param namespaces the namespaces of the permissions; empty for all
 * @param quota the limits of the token
 */
public record Caller(String name, Set<Role> roles, Set<String> namespaces, Quota quota) {
  public static final Caller NOBODY = new Caller("-", Set.of(), Set.of());

  /** The caller of a server without tokens, which only its own machine can reach. */
  public static final Caller LOCAL = new Caller("local", Set.of(Role.ADMIN), Set.of());

  /** Creates a caller without limits. */
  public Caller(String name, Set<Role> roles, Set<String> namespaces) {
    this(name, roles, namespaces, Quota.NONE);
  }

  public Caller {
    roles = Set.copyOf(roles);
    namespaces = Set.copyOf(namespaces);
  }

  /** {@return whether a token has the same permissions as before; its limits may differ} */
  boolean mayAs(Caller before) {
    return name.equals(before.name)
        && roles.equals(before.roles)
        && namespaces.equals(before.namespaces);
  }

  /** {@return whether the caller may operate timers} */
  public boolean isOperator() {
    return roles.stream().anyMatch(role -> role.isAnyOf(Set.of(Role.OPERATE)));
  }

  boolean sees(String namespace) {
    return namespaces.isEmpty() || namespaces.contains(namespace);
  }
}
