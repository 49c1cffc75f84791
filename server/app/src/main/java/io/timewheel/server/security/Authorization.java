// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import io.timewheel.server.json.Json;
import io.timewheel.server.problem.Problem;
import java.util.Set;
import java.util.stream.Collectors;

/** Refuses requests for which their caller has no permission. */
public final class Authorization {
  private Authorization() {}

  /** Refuses a caller that has none of the roles of a route. */
  public static void checkRole(Caller caller, Set<Role> roles) {
    if (caller.roles().stream().noneMatch(role -> role.isAnyOf(roles))) {
      throw forbidden(
          "the token has no role for this (expected: "
              + roles.stream().sorted().map(Json::name).collect(Collectors.joining(" or "))
              + ", or a role that includes it)");
    }
  }

  public static void checkNamespace(Caller caller, String namespace) {
    if (!caller.sees(namespace)) {
      throw forbidden("the token is not for this namespace");
    }
  }

  public static void checkAllNamespaces(Caller caller) {
    if (!caller.namespaces().isEmpty()) {
      throw forbidden("the token is not for all namespaces");
    }
  }

  private static Problem.Failure forbidden(String detail) {
    return Problem.of(403, "forbidden", detail).failure();
  }
}
