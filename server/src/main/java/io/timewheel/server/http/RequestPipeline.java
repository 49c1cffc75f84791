// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.micrometer.core.instrument.MeterRegistry;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.AuditLog;
import io.timewheel.server.security.Authentication;
import io.timewheel.server.security.Authenticator;
import io.timewheel.server.security.Authorization;
import io.timewheel.server.security.Caller;
import io.timewheel.server.security.Quotas;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.settings.WorkLimits;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http.PreEncodedHttpField;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Runs the steps of each request in order. Every failure of a step is answered as a problem. */
public final class RequestPipeline extends Handler.Abstract {
  private static final List<HttpField> SAFETY_HEADERS =
      List.of(
          new PreEncodedHttpField("X-Content-Type-Options", "nosniff"),
          new PreEncodedHttpField("Content-Security-Policy", OriginCheck.API_POLICY),
          new PreEncodedHttpField(HttpHeader.CACHE_CONTROL, "no-store"));

  private final Router router;
  private final Authenticator authenticator;
  private final Connections connections;
  private final OriginCheck origins;
  private final BasePath basePath;
  private final ClientAddress addresses;
  private final Exchange.Shared shared;

  public RequestPipeline(
      ServerConfig config,
      Router router,
      Authenticator authenticator,
      Connections connections,
      MeterRegistry meters,
      Quotas quotas,
      AuditLog audit) {
    this.router = router;
    this.authenticator = authenticator;
    this.connections = connections;
    this.origins = new OriginCheck(config);
    this.basePath = new BasePath(config.ingress().basePath());
    this.addresses = new ClientAddress(config.ingress().trustedProxies());
    this.shared =
        new Exchange.Shared(
            authenticator,
            new ByteBudget(config.maxBodyBytes()),
            config.maxBodyTime(),
            new ByteBudget(config.work().maxAnswerBytes()),
            config.work().maxStall(),
            queues(config),
            config.work().storeTimeout(),
            audit,
            new RequestMetrics(meters),
            quotas);
  }

  private static Map<Work, WorkQueue> queues(ServerConfig config) {
    WorkLimits limits = config.work();
    Map<Work, Integer> atATime =
        Map.of(
            Work.SCRAPE, WorkLimits.SCRAPES,
            Work.LONG, limits.longAtATime(),
            Work.BULK, WorkLimits.BULKS);
    Map<Work, WorkQueue> queues = new EnumMap<>(Work.class);
    atATime.forEach(
        (work, count) ->
            queues.put(work, new WorkQueue(count, limits.maxWaiting(), limits.maxWait())));
    // Each connection may have one request in this queue, which waits briefly.
    queues.put(
        Work.SHORT,
        new WorkQueue(limits.shortAtATime(), config.maxConnections(), limits.maxWait()));
    return queues;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    Exchange exchange = new Exchange(shared, addresses.of(request), request, response, callback);
    HttpFields.Mutable headers = response.getHeaders();
    SAFETY_HEADERS.forEach(headers::put);
    headers.put(Exchange.REQUEST_ID, exchange.id());
    exchange.run(() -> serve(exchange));
    return true;
  }

  private void serve(Exchange exchange) {
    Request request = exchange.request();
    checkFraming(request);
    String path = basePath.strip(request.getHttpURI().getPath());
    origins.check(request, basePath.isConsole(path));
    if (path != null && basePath.isRoot(path)) {
      exchange.redirect(basePath.prefix() + "/");
      return;
    }
    Authentication authentication = authenticator.authenticate(Exchange.credentials(request));
    Router.Match match = path == null ? null : router.match(request.getMethod(), path);
    if (match == null) {
      var unused = authentication.orThrow(); // paths stay unknown to strangers
      throw router.noMatch(path == null ? "" : path).failure();
    }
    exchange.route(match.route(), match.variables());
    authorise(exchange, match.route(), authentication);
    if (match.route().method().equals("GET")) {
      if (!match.route().isOpen()) {
        exchange.expectAnswer(Duration.ZERO);
      }
      exchange.work(() -> act(exchange, match.action()));
    } else {
      act(exchange, match.action()); // the step after the body has the deadline, and its turn
    }
  }

  /**
   * Refuses a transfer coding that the server does not decode, such as {@code gzip, chunked}, and
   * each in HTTP/1.0. A proxy may see another end of the body. Jetty checks only the last coding.
   */
  private static void checkFraming(Request request) {
    List<String> codings = request.getHeaders().getValuesList(HttpHeader.TRANSFER_ENCODING);
    if (!codings.isEmpty()
        && !(request.getConnectionMetaData().getHttpVersion() != HttpVersion.HTTP_1_0
            && codings.size() == 1
            && codings.get(0).strip().equalsIgnoreCase("chunked"))) {
      throw Problem.malformed("Transfer-Encoding (expected: chunked in HTTP/1.1, or none)")
          .header("Connection", "close")
          .failure();
    }
  }

  /** Checks the permission of each request here, so that no route can omit it. */
  private void authorise(Exchange exchange, Route route, Authentication authentication) {
    if (!route.isOpen()) {
      connections.check(exchange.request().getConnectionMetaData().getConnection());
      Caller caller = authentication.orThrow();
      exchange.caller(caller);
      Authorization.checkRole(caller, route.roles());
      exchange.checkNamespace();
      exchange.checkChange(route);
    }
  }

  private static void act(Exchange exchange, Action action) {
    try {
      action.handle(exchange);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
