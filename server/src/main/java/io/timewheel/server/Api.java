// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import io.timewheel.server.Route.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leads each request to its route, past the guards; nothing that a route throws goes unanswered.
 */
final class Api extends Handler.Abstract {
  private static final Logger LOG = LoggerFactory.getLogger(Api.class);
  private static final Logger AUDIT = LoggerFactory.getLogger("timewheel.audit");

  private final ServerConfig config;
  private final Browsers browsers;
  private final List<Route> routes = new ArrayList<>();
  private final AtomicLong bodyBytes = new AtomicLong();

  Api(ServerConfig config) {
    this.config = config;
    this.browsers = new Browsers(config);
  }

  void add(Route route) {
    routes.add(route);
  }

  List<Route> routes() {
    return List.copyOf(routes);
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    Exchange exchange = new Exchange(this, request, response, callback);
    response.getHeaders().put("X-Content-Type-Options", "nosniff");
    response.getHeaders().put("Content-Security-Policy", Browsers.API_POLICY);
    response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
    exchange.run(() -> dispatch(exchange));
    return true;
  }

  private void dispatch(Exchange exchange) {
    Request request = exchange.request();
    browsers.check(request);
    String method = request.getMethod().equals("HEAD") ? "GET" : request.getMethod();
    List<String> path = Route.split(request.getHttpURI().getPath());
    TreeSet<String> allowed = new TreeSet<>();
    for (Route route : routes) {
      Map<String, String> variables = route.match(path);
      if (variables != null && route.method().equals(method)) {
        exchange.route(route, variables, Caller.LOCAL);
        run(exchange, route);
        return;
      } else if (variables != null) {
        allowed.add(route.method());
      }
    }
    if (allowed.isEmpty()) {
      throw Problem.of(404, "no_such_path", "there is nothing at this path").failure();
    }
    throw Problem.of(405, "method_not_allowed", "expected: " + String.join(", ", allowed))
        .header("Allow", String.join(", ", allowed))
        .failure();
  }

  private static void run(Exchange exchange, Route route) {
    try {
      route.action().handle(exchange);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** Bodies are held in memory, so all together have a limit. */
  long reserveBody(long bytes) {
    if (bodyBytes.addAndGet(bytes) > config.maxBodyBytes()) {
      bodyBytes.addAndGet(-bytes);
      throw Problem.busy("as much is being received as fits into memory").failure();
    }
    return bytes;
  }

  void releaseBody(long bytes) {
    bodyBytes.addAndGet(-bytes);
  }

  /** Who did what: every request that may change something, also one that was refused. */
  void answered(Exchange exchange, int status) {
    Route route = exchange.route();
    if (route != null && route.role().compareTo(Role.WRITE) >= 0) {
      AUDIT.info(
          "{} {} {} {}",
          exchange.caller().name(),
          route.method(),
          exchange.request().getHttpURI().getPath(),
          status);
    }
  }

  void unexpected(Request request, Problem problem) {
    LOG.error("{} {} failed", request.getMethod(), request.getHttpURI().getPath(), problem.cause());
  }
}
