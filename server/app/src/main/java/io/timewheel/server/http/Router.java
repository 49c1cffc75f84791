// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.problem.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The routes of the API. Finds the route of a request. */
public final class Router {
  private final List<Entry> entries = new ArrayList<>();

  private record Entry(Route route, Consumer<Exchange> begin) {}

  /** A matched route, and the encoded variables of the path. */
  record Match(Route route, Consumer<Exchange> begin, Map<String, String> variables) {}

  /** Adds a route that only reads. */
  public void read(Route route, Action action) {
    if (route.isChange()) {
      throw new IllegalArgumentException(route.operation());
    }
    entries.add(new Entry(route, exchange -> exchange.inTurn(() -> action.handle(exchange))));
  }

  /** Adds a route that may change something. */
  public void write(Route route, Action.Write action) {
    if (!route.isChange()) {
      throw new IllegalArgumentException(route.operation());
    }
    entries.add(new Entry(route, exchange -> exchange.read(action.begin(exchange))));
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
        return new Match(entry.route, entry.begin, variables);
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
