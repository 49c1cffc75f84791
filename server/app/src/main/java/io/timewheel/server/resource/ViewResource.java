// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import static java.util.Objects.requireNonNull;

import io.timewheel.api.NamespacesAnswer;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.server.document.ClusterView;
import io.timewheel.server.document.StatsView;
import io.timewheel.server.document.WheelView;
import io.timewheel.server.http.ApiRequest;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.PageToken;
import io.timewheel.server.http.Query;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.http.Work;
import io.timewheel.server.json.Json;
import io.timewheel.server.json.JsonPage;
import io.timewheel.server.security.Role;
import io.timewheel.server.security.Scope;
import io.timewheel.server.store.StoreReads;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import org.eclipse.jetty.util.Callback;

/** Shows namespaces, figures, the wheel and the nodes. */
public final class ViewResource {
  private static final String OPENAPI = "/io/timewheel/server/openapi.json";

  private static final String NAMESPACES = "namespaces";
  private static final int PAGE = 1_000;
  private static final int MAX_PAGE = 5_000;

  private final StoreReads reads;
  private final StatsView stats;
  private final WheelView wheel;
  private final ClusterView cluster;

  public ViewResource(StoreReads reads, StatsView stats, WheelView wheel, ClusterView cluster) {
    this.reads = reads;
    this.stats = stats;
    this.wheel = wheel;
    this.cluster = cluster;
  }

  public void addTo(Router router) {
    router.read(Route.of("GET", "/v1/namespaces", Role.READ), this::namespaces);
    router.read(Route.of("GET", "/v1/stats", Role.READ), this::stats);
    router.read(Route.of("GET", "/v1/wheel", Role.READ), this::wheel);
    router.read(Route.of("GET", "/v1/cluster", Role.READ), this::cluster);
    router.read(
        Route.of("GET", "/openapi.json", Role.values()).with(Work.PROMPT), ViewResource::openapi);
  }

  private void namespaces(Exchange exchange) {
    Query query = exchange.request().query("pageSize", "pageToken");
    int pageSize = query.number("pageSize", PAGE, MAX_PAGE);
    String after = PageToken.parse(NAMESPACES, query.text("pageToken"));
    Scope scope = Scope.of(exchange.request().caller(), null);
    NavigableMap<String, Map<TimerState, Long>> counts =
        scope.of(reads.ask(DurableTimer::counts)).tailMap(after, false);
    Set<String> paused = reads.ask(DurableTimer::paused);
    JsonPage page = new JsonPage(NAMESPACES);
    String last = after;
    int left = pageSize;
    for (Map.Entry<String, Map<TimerState, Long>> each : counts.entrySet()) {
      NamespacesAnswer.Namespace namespace =
          new NamespacesAnswer.Namespace(
              each.getKey(),
              TimerStore.isPaused(paused, each.getKey()),
              StatsView.states(each.getValue()));
      if (left-- == 0 || !page.add(namespace)) {
        String next = PageToken.of(NAMESPACES, last);
        exchange.send(200, Json.MEDIA_TYPE, page.end(next), Callback.NOOP);
        return;
      }
      last = each.getKey();
    }
    exchange.send(200, Json.MEDIA_TYPE, page.end(null), Callback.NOOP);
  }

  private void stats(Exchange exchange) {
    Scope scope = requestedScope(exchange.request());
    exchange.json(200, stats.answer(reads, scope, true));
  }

  private void wheel(Exchange exchange) {
    Scope scope = requestedScope(exchange.request());
    exchange.on(wheel.answer(reads, scope), answer -> exchange.json(200, answer));
  }

  private static Scope requestedScope(ApiRequest request) {
    return Scope.of(request.caller(), request.query("namespace").text("namespace"));
  }

  private void cluster(Exchange exchange) {
    exchange.request().query();
    var unused = reads.timer(); // fails with 503 until there is a timer
    exchange.json(200, cluster.answer());
  }

  private static void openapi(Exchange exchange) throws IOException {
    exchange.request().query();
    try (InputStream in = ViewResource.class.getResourceAsStream(OPENAPI)) {
      exchange.send(200, Json.MEDIA_TYPE, requireNonNull(in, OPENAPI).readAllBytes());
    }
  }
}
