// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import io.timewheel.api.HistogramAnswer;
import io.timewheel.durable.TimerFilter;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerList;
import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.server.document.TimerView;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.Query;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.http.Work;
import io.timewheel.server.json.Json;
import io.timewheel.server.json.JsonPage;
import io.timewheel.server.problem.Names;
import io.timewheel.server.security.Role;
import io.timewheel.server.store.HistogramScans;
import io.timewheel.server.store.HistogramScans.Span;
import io.timewheel.server.store.StoreReads;
import io.timewheel.server.webhook.DeliveryName;
import io.timewheel.server.webhook.StoredTarget;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/** Lists timers by page, and counts timers by their time. */
public final class TimerListResource {
  static final String TIMERS = "/v1/namespaces/{ns}/timers";

  private static final int PAGE = 100;
  private static final int MAX_PAGE = 5_000;
  private static final int BUCKETS = 60;
  private static final int MAX_BUCKETS = 10_000;

  /**
   * The maximum number of lookups for one page. One lookup reads up to 10,000 timers of a
   * directory.
   */
  private static final int MAX_LOOKUPS = 100;

  private static final long MAX_LOOKUP_NANOS = Duration.ofSeconds(1).toNanos();

  private final StoreReads reads;
  private final HistogramScans scans;
  private final LongSupplier nanoTime;

  /**
   * Creates the resource.
   *
   * @param nanoTime measures the time of lookups, for a filter that few timers match
   */
  public TimerListResource(StoreReads reads, HistogramScans scans, LongSupplier nanoTime) {
    this.reads = reads;
    this.scans = scans;
    this.nanoTime = nanoTime;
  }

  public void addTo(Router router) {
    router.read(Route.of("GET", TIMERS, Role.READ), this::list);
    router.read(
        Route.of("GET", "/v1/namespaces/{ns}/histogram", Role.READ).with(Work.PROMPT),
        this::histogram);
  }

  private void list(Exchange exchange) {
    String namespace = exchange.request().namespace();
    Query query =
        exchange
            .request()
            .query(
                "state",
                "prefix",
                "dueFrom",
                "dueTo",
                "handler",
                "queue",
                "target",
                "orderBy",
                "order",
                "pageSize",
                "pageToken",
                "payload");
    boolean payload = query.flag("payload");
    boolean queues = query.text("queue") != null || "queue".equals(query.text("target"));
    TimerFilter filter =
        filter(
            namespace,
            query.list("state"),
            query.text("prefix"),
            query.instant("dueFrom"),
            query.instant("dueTo"),
            query.text("handler"),
            queues);
    filter = target(filter, query).order(order(query));
    int pageSize = query.number("pageSize", PAGE, MAX_PAGE);
    String token = query.text("pageToken");
    List<String> states = query.list("state");
    Predicate<TimerInfo> shown = inStates(states);
    boolean urls = "url".equals(query.text("target"));
    if (urls) {
      shown = shown.and(timer -> timer.headers().containsKey(StoredTarget.URL)); // or a handler
    }
    int least = urls || !states.isEmpty() ? PAGE : 1;
    filter = payload ? filter : filter.withoutPayload();
    list(exchange, filter, shown, least, payload, pageSize, token);
  }

  private static TimerFilter target(TimerFilter filter, Query query) {
    TimerFilter some = filter;
    String queue = query.text("queue");
    if (queue != null) {
      if (query.text("handler") != null) {
        throw Query.wrong("queue", queue, "no handler together with a queue");
      }
      some = some.queue(Names.checked("queue", queue));
    }
    String target = query.text("target");
    if (target == null) {
      return some;
    }
    if (!target.equals("queue") && !target.equals("url")) {
      throw Query.wrong("target", target, "queue or url");
    }
    if (queue != null && target.equals("url")) {
      throw Query.wrong("target", target, "queue, because the parameter queue is present");
    }
    return some.queues(target.equals("queue"));
  }

  private static TimerOrder order(Query query) {
    String order = requireNonNullElse(query.text("order"), "asc");
    if (!order.equals("asc") && !order.equals("desc")) {
      throw Query.wrong("order", order, "asc or desc");
    }
    boolean descending = order.equals("desc");
    String by = requireNonNullElse(query.text("orderBy"), "id");
    return switch (by) {
      case "id" -> descending ? TimerOrder.ID_DESCENDING : TimerOrder.ID;
      case "created" -> descending ? TimerOrder.CREATED_DESCENDING : TimerOrder.CREATED;
      case "due" -> descending ? TimerOrder.DUE_DESCENDING : TimerOrder.DUE;
      default -> throw Query.wrong("orderBy", by, "created, due or id");
    };
  }

  /**
   * Answers with timers until the page is full, the list ends, or the lookups take too long.
   *
   * @param shown leaves out timers that the filter cannot
   * @param least the least number of timers that a lookup reads
   */
  private void list(
      Exchange exchange,
      TimerFilter filter,
      Predicate<TimerInfo> shown,
      int least,
      boolean payload,
      int pageSize,
      @Nullable String pageToken) {
    JsonPage page = new JsonPage("timers");
    long beganNanos = nanoTime.getAsLong();
    String next = pageToken;
    TimerInfo last = null;
    int left = pageSize;
    int lookups = 0;
    do {
      TimerList found = lookUp(filter, Math.max(left, least), next);
      next = found.nextPage().orElse(null);
      for (TimerInfo timer : found.timers()) {
        if (!shown.test(timer)) {
          continue;
        }
        if (left == 0 || !page.add(TimerView.brief(timer, payload))) {
          next = filter.pageAfter(requireNonNull(last)); // the first timer always fits
          left = 0;
          break;
        }
        last = timer;
        left--;
      }
      lookups++;
    } while (next != null
        && left > 0
        && lookups < MAX_LOOKUPS
        && nanoTime.getAsLong() - beganNanos < MAX_LOOKUP_NANOS);
    exchange.send(200, Json.MEDIA_TYPE, page.end(next), Callback.NOOP);
  }

  private TimerList lookUp(TimerFilter filter, int limit, @Nullable String token) {
    try {
      return reads.ask(timer -> timer.timers(filter).list(limit, token));
    } catch (InvalidArgumentException e) {
      throw token == null ? e : Query.wrong("pageToken", token, "the nextPageToken of this list");
    }
  }

  static TimerFilter filter(
      String namespace,
      List<String> states,
      @Nullable String prefix,
      @Nullable Instant dueFrom,
      @Nullable Instant dueTo,
      @Nullable String handler,
      boolean queues) {
    TimerFilter filter = TimerFilter.unfinished().namespace(namespace);
    if (!states.isEmpty()) {
      Set<TimerState> stored = states(states);
      if (stored.contains(TimerState.READY) && !queues) { // also stored as these, see inStates
        stored.addAll(EnumSet.of(TimerState.SCHEDULED, TimerState.RETRYING));
      }
      filter = filter.states(stored);
    }
    if (prefix != null) {
      if (prefix.chars().anyMatch(Character::isISOControl)) {
        throw Query.wrong("prefix", prefix, "no control characters, as no id has any");
      }
      filter = filter.prefix(prefix);
    }
    if (dueFrom != null || dueTo != null) {
      filter =
          filter.dueBetween(
              dueFrom == null ? StoreReads.BEGIN_OF_TIME : dueFrom,
              dueTo == null ? StoreReads.END_OF_TIME : dueTo);
    }
    return handler == null
        ? filter
        : filter.handler(DeliveryName.sought(Names.checked("handler", handler), namespace));
  }

  /** {@return a condition for timers that are shown in some states; none means all states} */
  static Predicate<TimerInfo> inStates(List<String> names) {
    Set<TimerState> states = names.isEmpty() ? EnumSet.allOf(TimerState.class) : states(names);
    return timer -> states.contains(TimerView.state(timer));
  }

  private static Set<TimerState> states(List<String> names) {
    Set<TimerState> states = EnumSet.noneOf(TimerState.class);
    for (String name : names) {
      if (name.equals("all")) {
        return EnumSet.allOf(TimerState.class);
      }
      states.add(
          EnumSet.allOf(TimerState.class).stream()
              .filter(state -> Json.name(state).equals(name))
              .findAny()
              .orElseThrow(() -> Query.wrong("state", name, "a state, or all")));
    }
    return states;
  }

  private void histogram(Exchange exchange) {
    String namespace = exchange.request().namespace();
    Query query = exchange.request().query("from", "to", "buckets");
    Instant given = query.instant("from");
    Instant from = given == null ? reads.timer().now() : given;
    Instant until = query.instant("to");
    Instant to = until == null ? from.plus(Duration.ofHours(1)) : until;
    int buckets = query.number("buckets", BUCKETS, MAX_BUCKETS);
    Span span = new Span(millis(from), millis(to), buckets);
    if (span.toMillis() - span.fromMillis() < buckets) {
      throw Query.wrong("to", to.toString(), "a millisecond for each bucket at least");
    }
    exchange.on(
        scans.count(exchange.request().caller(), namespace, span, exchange::isAnswered),
        counts -> histogram(exchange, span, counts));
  }

  private static void histogram(Exchange exchange, Span span, long[] counts) {
    JsonPage page = new JsonPage("buckets");
    for (int i = 0; i < counts.length; i++) {
      page.add(
          new HistogramAnswer.Bucket(
              Instant.ofEpochMilli(span.bound(i)),
              Instant.ofEpochMilli(span.bound(i + 1)),
              counts[i]));
    }
    exchange.send(200, Json.MEDIA_TYPE, page.end(null), Callback.NOOP);
  }

  /** Rounds up, like the engine. */
  private static long millis(Instant time) {
    long millis = time.toEpochMilli();
    return time.truncatedTo(ChronoUnit.MILLIS).equals(time) ? millis : millis + 1;
  }
}
