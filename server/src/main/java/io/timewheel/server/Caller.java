// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import java.util.Set;

/**
 * Who asks.
 *
 * @param name what the audit log calls them
 * @param role what they may do
 * @param namespaces where they may do it; empty for everywhere
 */
record Caller(String name, Route.Role role, Set<String> namespaces) {
  static final Caller NOBODY = new Caller("-", Route.Role.OPEN, Set.of());

  /** Of a server without tokens, which only its own machine reaches. */
  static final Caller LOCAL = new Caller("local", Route.Role.ADMIN, Set.of());

  boolean sees(String namespace) {
    return namespaces.isEmpty() || namespaces.contains(namespace);
  }

  void checkNamespace(String namespace) {
    if (!sees(namespace)) {
      throw Problem.of(403, "forbidden", "the token is not for this namespace").failure();
    }
  }
}
