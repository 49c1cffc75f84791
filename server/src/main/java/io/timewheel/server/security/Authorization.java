// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import io.timewheel.server.problem.Problem;
import java.util.Locale;

/** Refuses requests for which their caller has no permission. */
public final class Authorization {
  private Authorization() {}

  public static void checkRole(Caller caller, Role role) {
    if (caller.role().compareTo(role) < 0) {
      throw forbidden(
          "the token does not allow it (expected: one of the role "
              + role.name().toLowerCase(Locale.ROOT)
              + ")");
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
