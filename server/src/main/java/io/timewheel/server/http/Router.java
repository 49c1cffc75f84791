// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.problem.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The routes of the API. Finds the route of a request. */
public final class Router {
  private final List<Entry> entries = new ArrayList<>();

  private record Entry(Route route, Action action) {}

  /**
   * A matched route.
   *
   * @param route the route
   * @param action answers the request
   * @param variables the encoded variables of the path
   */
  record Match(Route route, Action action, Map<String, String> variables) {}

  public void add(Route route, Action action) {
    entries.add(new Entry(route, action));
  }

  public List<Route> routes() {
    return entries.stream().map(Entry::route).toList();
  }

  /** {@return the route of a method and a path; null if there is none} */
  @Nullable Match match(String method, String path) {
    String served = method.equals("HEAD") ? "GET" : method;
    List<String> segments = Route.split(path);
    for (Entry entry : entries) {
      Map<String, String> variables = entry.route.match(segments);
      if (variables != null && entry.route.method().equals(served)) {
        return new Match(entry.route, entry.action, variables);
      }
    }
    return null;
  }

  /** {@return the answer to a request that matches no route} */
  Problem noMatch(String path) {
    List<String> segments = Route.split(path);
    TreeSet<String> allowed = new TreeSet<>();
    for (Entry entry : entries) {
      if (entry.route.match(segments) != null) {
        allowed.add(entry.route.method());
      }
    }
    if (allowed.isEmpty()) {
      return Problem.of(404, "no_such_path", "there is no operation at this path");
    }
    String methods = String.join(", ", allowed);
    return Problem.of(405, "method_not_allowed", "expected: " + methods).header("Allow", methods);
  }
}
