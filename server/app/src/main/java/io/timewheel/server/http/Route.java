// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.security.Caller;
import io.timewheel.server.security.Role;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One operation of the API. Paths are matched in their encoded form: an encoded character is part
 * of a name, so no name can reach another route.
 *
 * @param method the method; GET serves HEAD too
 * @param pattern the path, with variables in braces and an optional verb after a colon
 * @param segments the parts of the pattern
 * @param roles the roles of which a caller needs one; none if the route is open to everyone
 * @param work the kind of work
 */
public record Route(
    String method, String pattern, List<String> segments, Set<Role> roles, Work work) {
  /** {@return a route; an open route never blocks, others do long or short work} */
  public static Route of(String method, String pattern, Role... roles) {
    Work work = method.equals("GET") ? Work.LONG : Work.SHORT;
    return new Route(
        method, pattern, split(pattern), Set.of(roles), roles.length == 0 ? Work.PROMPT : work);
  }

  /** {@return the same route for another kind of work} */
  public Route with(Work other) {
    return new Route(method, pattern, segments, roles, other);
  }

  /** {@return the method and the pattern} */
  String operation() {
    return method + " " + pattern;
  }

  /** {@return whether it needs no token} */
  boolean isOpen() {
    return roles.isEmpty();
  }

  /**
   * {@return whether quotas of writes count a request: a producer's change of timers. They count no
   * verb of operators, and so no DELETE of a caller who is one}
   */
  boolean isCharged(Caller caller) {
    return isChange()
        && roles.contains(Role.PRODUCE)
        && !roles.contains(Role.READ)
        && !(method.equals("DELETE") && caller.isOperator());
  }

  /** {@return whether the route may change something} */
  boolean isChange() {
    return !isOpen() && !method.equals("GET");
  }

  static List<String> split(String path) {
    return List.of(path.split("/", -1));
  }

  /** {@return the encoded variables of a path that matches; null if it does not} */
  @Nullable Map<String, String> match(List<String> path) {
    int last = segments.size() - 1;
    if (path.size() != segments.size()) {
      return null;
    }
    Map<String, String> variables = new HashMap<>();
    for (int i = 0; i <= last; i++) {
      String wanted = segments.get(i);
      String given = path.get(i);
      int verb = i == last ? wanted.lastIndexOf(':') : -1;
      if (verb >= 0) {
        if (!given.endsWith(wanted.substring(verb))) {
          return null;
        }
        given = given.substring(0, given.length() - (wanted.length() - verb));
        wanted = wanted.substring(0, verb);
      }
      if (wanted.startsWith("{")) {
        variables.put(wanted.substring(1, wanted.length() - 1), given);
      } else if (!wanted.equals(given)) {
        return null;
      }
    }
    return variables;
  }
}
