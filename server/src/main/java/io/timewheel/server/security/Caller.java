// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import java.util.Set;

/**
 * The caller of a request.
 *
 * @param name the name in the audit log
 * @param role the permissions
 * @param namespaces the namespaces that they are for; empty for all
 */
public record Caller(String name, Role role, Set<String> namespaces) {
  public static final Caller NOBODY = new Caller("-", Role.OPEN, Set.of());

  /** Of a server without tokens, which only its own machine reaches. */
  public static final Caller LOCAL = new Caller("local", Role.ADMIN, Set.of());

  boolean sees(String namespace) {
    return namespaces.isEmpty() || namespaces.contains(namespace);
  }
}
