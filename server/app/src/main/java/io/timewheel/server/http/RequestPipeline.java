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
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http.PreEncodedHttpField;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

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
  public boolean handle(Request http, Response response, Callback callback) {
    long beganNanos = System.nanoTime();
    ApiRequest known = ApiRequest.of(http, addresses.of(http));
    HttpFields.Mutable headers = response.getHeaders();
    SAFETY_HEADERS.forEach(headers::put);
    headers.put(ApiRequest.REQUEST_ID, known.id());
    Consumer<Exchange> answer;
    try {
      checkFraming(http);
      String path = basePath.strip(http.getHttpURI().getPath());
      origins.check(http, basePath.isConsole(path));
      if (path != null && basePath.isRoot(path)) {
        answer = exchange -> exchange.redirect(basePath.prefix() + "/");
      } else {
        Authentication authentication = authenticator.authenticate(known.credentials());
        Router.Match match = route(http, path, authentication);
        known = known.to(match.route(), match.variables());
        if (!match.route().isOpen()) {
          connections.check(http.getConnectionMetaData().getConnection());
          known = known.by(authentication.orThrow());
          authorise(known, match.route());
        }
        answer = match.begin();
      }
    } catch (RuntimeException | Error e) {
      answer = exchange -> exchange.problem(Problem.of(e));
    }
    Exchange exchange = new Exchange(shared, known, response, callback, beganNanos);
    Consumer<Exchange> begin = answer;
    exchange.run(() -> begin.accept(exchange));
    return true;
  }

  private Router.Match route(Request http, @Nullable String path, Authentication authentication) {
    Router.Match match = path == null ? null : router.match(http.getMethod(), path);
    if (match == null) {
      var unused = authentication.orThrow(); // paths stay unknown to strangers
      throw router.noMatch(path == null ? "" : path).failure();
    }
    return match;
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

  /**
   * Checks the permission of each request here, so that no route can omit it. Refuses a change that
   * the audit log or a quota does not admit, and charges a producer's write.
   */
  private void authorise(ApiRequest request, Route route) {
    Caller caller = request.caller();
    Authorization.checkRole(caller, route.roles());
    if (request.hasNamespace()) {
      Authorization.checkNamespace(caller, request.namespace());
    }
    if (route.isChange()) {
      shared.auditLog().checkWritable();
    }
    if (route.isCharged(caller)) {
      shared.quotas().write(caller, request.namespace());
    }
  }
}
