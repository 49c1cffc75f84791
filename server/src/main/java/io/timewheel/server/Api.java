// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import java.time.Duration;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leads each request to its route, past the guards; nothing that a route throws goes unanswered.
 */
final class Api extends Handler.Abstract {
  private static final Logger LOG = LoggerFactory.getLogger(Api.class);

  private final ServerConfig config;
  private final Browsers browsers;
  private final Callers callers;
  private final Connections connections;
  private final List<Route> routes = new ArrayList<>();
  private final AtomicLong bodyBytes = new AtomicLong();

  Api(ServerConfig config, @Nullable Tokens tokens, Connections connections) {
    this.config = config;
    this.connections = connections;
    this.browsers = new Browsers(config);
    this.callers = new Callers(tokens);
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
    response.getHeaders().put(Exchange.REQUEST_ID, exchange.id());
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
        exchange.route(route, variables);
        admit(exchange, route);
        run(exchange, route);
        return;
      } else if (variables != null) {
        allowed.add(route.method());
      }
    }
    var unused = callers.of(request); // strangers are not shown what there is
    if (allowed.isEmpty()) {
      throw Problem.of(404, "no_such_path", "there is nothing at this path").failure();
    }
    throw Problem.of(405, "method_not_allowed", "expected: " + String.join(", ", allowed))
        .header("Allow", String.join(", ", allowed))
        .failure();
  }

  /** Here alone is decided who may do what, so that no route can forget it. */
  private void admit(Exchange exchange, Route route) {
    if (route.role() != Route.Role.OPEN) {
      connections.check(exchange.request().getConnectionMetaData().getConnection());
      Caller caller = callers.of(exchange.request());
      exchange.caller(caller);
      Callers.check(caller, route.role());
      exchange.checkNamespace();
    }
  }

  private static void run(Exchange exchange, Route route) {
    try {
      route.action().handle(exchange);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** {@return whether whoever asked may still: a token may have been struck out meanwhile} */
  boolean isStillAdmitted(Exchange exchange) {
    try {
      return callers.of(exchange.request()).equals(exchange.caller());
    } catch (Problem.Failure e) {
      return false;
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

  Duration maxBodyTime() {
    return config.maxBodyTime();
  }

  void releaseBody(long bytes) {
    bodyBytes.addAndGet(-bytes);
  }

  void unexpected(Exchange exchange, Problem problem) {
    Request request = exchange.request();
    LOG.error(
        "{} {} failed, request {}",
        request.getMethod(),
        request.getHttpURI().getPath(),
        exchange.id(),
        problem.cause());
  }
}
