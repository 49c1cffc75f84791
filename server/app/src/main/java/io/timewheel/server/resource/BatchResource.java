// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import static java.util.Objects.requireNonNull;

import io.timewheel.api.BatchItem;
import io.timewheel.api.BatchRequest;
import io.timewheel.durable.BatchResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.ScheduleResult;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.server.document.Preconditions;
import io.timewheel.server.document.TimerSpecs;
import io.timewheel.server.http.Body;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.IdempotencyKey;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.json.Elements;
import io.timewheel.server.json.Json;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.json.Parsed;
import io.timewheel.server.problem.Names;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Quotas;
import io.timewheel.server.security.Role;
import io.timewheel.server.store.StoreReads;
import io.timewheel.server.trace.Tracing;
import io.timewheel.server.webhook.SecretSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Schedules many timers of one request, each independently. */
public final class BatchResource {
  private static final int MAX_BODY = 16 << 20;

  /** The length of the longest valid ID. A refused ID may be longer. */
  private static final int MAX_SHOWN_ID = 256;

  private final StoreReads reads;
  private final SecretSource secrets;

  public BatchResource(StoreReads reads, SecretSource secrets) {
    this.reads = reads;
    this.secrets = secrets;
  }

  public void addTo(Router router) {
    router.write(Route.of("POST", TimerListResource.TIMERS + ":batch", Role.PRODUCE), this::batch);
  }

  /** A batch without its timers, each of which may be refused alone. */
  private record Batch(@Nullable List<Object> timers) {}

  /** An item, and its result so far. */
  private record Item(@Nullable String id, @Nullable TimerSpec spec, @Nullable Problem problem) {}

  private Body<?> batch(Exchange exchange) {
    DurableTimer timer = reads.timer();
    String namespace = exchange.request().namespace();
    IdempotencyKey idempotency = IdempotencyKey.of(exchange.request());
    return Body.batch(
        MAX_BODY,
        body -> {
          Tracing.Span span =
              Tracing.get()
                  .schedule(
                      exchange.request().header(Tracing.HEADER),
                      Map.of("timewheel.namespace", namespace));
          List<Item> items =
              admitted(
                  exchange,
                  namespace,
                  items(exchange, namespace, idempotency, span.traceparent(), body));
          long maxPending = exchange.quotas().maxPending(exchange.request().caller(), namespace);
          List<TimerSpec> specs = new ArrayList<>();
          for (Item item : items) {
            if (item.spec != null) {
              specs.add(item.spec.maxPending(maxPending));
            }
          }
          exchange.note(
              "ids", items.stream().filter(item -> item.spec != null).map(Item::id).toList());
          exchange.on(
              span.over(timer.async().scheduleAll(specs)),
              results -> answer(exchange, items, results));
        });
  }

  private List<Item> items(
      Exchange exchange,
      String namespace,
      @Nullable IdempotencyKey idempotency,
      @Nullable String traceparent,
      Elements body) {
    // If a batch contains a timer twice, the second is scheduled too, and does not count as a
    // repeated request.
    Map<String, Integer> times = new HashMap<>();
    SecretSource allowed = TimerResource.secrets(exchange.request(), secrets);
    StringBuilder content = new StringBuilder();
    List<Item> items =
        body.convert(
            Batch.class,
            "timers",
            BatchItem.class,
            "id",
            sent -> {
              BatchItem timer = sent.value();
              if (timer != null && timer.headers() != null) {
                exchange.reserve((long) timer.headers().size() * JsonReader.FIELD_BYTES);
              }
              if (idempotency != null) {
                content.append(idempotency.request(content(sent)).digest());
              }
              return item(namespace, allowed, idempotency, traceparent, times, sent);
            });
    if (idempotency != null) { // refuses the key of another batch
      var unused =
          BulkResource.keep(
              reads.timer(),
              new TimerKey(namespace, "timers"),
              idempotency.part("batch").request(content.toString()),
              OptionalLong.of(items.size()));
    }
    return items;
  }

  private static String content(Parsed<BatchItem> sent) {
    return sent.problem() == null
        ? Json.text(requireNonNull(sent.value()))
        : sent.id() + sent.problem().detail();
  }

  /** {@return the items, of which a quota of writes may refuse the last ones} */
  private static List<Item> admitted(Exchange exchange, String namespace, List<Item> items) {
    int writes = (int) items.stream().filter(item -> item.spec != null).count();
    Quotas.Admitted more =
        exchange
            .quotas()
            .writeMore(exchange.request().caller(), namespace, Math.max(0, writes - 1));
    int left = 1 + more.count(); // the request itself was charged one
    List<Item> admitted = new ArrayList<>();
    for (Item item : items) {
      boolean over = item.spec != null && left-- <= 0;
      admitted.add(over ? new Item(item.id, null, more.over()) : item);
    }
    return admitted;
  }

  private Item item(
      String namespace,
      SecretSource allowed,
      @Nullable IdempotencyKey idempotency,
      @Nullable String traceparent,
      Map<String, Integer> times,
      Parsed<BatchItem> sent) {
    BatchItem timer = sent.value();
    if (timer == null) {
      return new Item(sent.id(), null, sent.problem());
    }
    String id = timer.id();
    try {
      if (id == null) {
        throw Problem.missing("id", "the id of the timer");
      }
      String checked = Names.checked("id", id);
      TimerSpec spec =
          TimerSpecs.of(
              namespace,
              checked,
              timer.timer().withHeader(Tracing.HEADER, traceparent),
              allowed,
              reads.timer().now());
      Preconditions.of(timer.ifMatch(), timer.ifNoneMatch())
          .apply(spec, () -> reads.get(new TimerKey(namespace, checked)));
      if (idempotency != null) {
        int time = times.merge(id, 1, Integer::sum);
        spec.requestId(idempotency.part("item " + time).request(Json.text(timer.timer())));
      }
      return new Item(id, spec, null);
    } catch (RuntimeException e) {
      return new Item(id, null, Problem.of(e));
    }
  }

  private static void answer(
      Exchange exchange, List<Item> items, List<BatchResult<ScheduleResult>> results) {
    Iterator<BatchResult<ScheduleResult>> done = results.iterator();
    exchange.json(
        200,
        new BatchRequest.Answer(
            items.stream()
                .map(
                    item ->
                        item.problem != null
                            ? refused(exchange, item.id, item.problem)
                            : result(exchange, item.id, done.next()))
                .toList()));
  }

  private static BatchRequest.Answer.Result result(
      Exchange exchange, @Nullable String id, BatchResult<ScheduleResult> result) {
    ScheduleResult scheduled = result.result();
    if (scheduled == null) {
      return refused(exchange, id, Problem.of(requireNonNull(result.error())));
    }
    boolean created = scheduled.outcome() == ScheduleResult.Outcome.CREATED;
    return new BatchRequest.Answer.Result(id, created ? 201 : 200, scheduled.version(), null);
  }

  private static BatchRequest.Answer.Result refused(
      Exchange exchange, @Nullable String id, Problem problem) {
    return new BatchRequest.Answer.Result(
        id == null ? null : Names.shown(id, MAX_SHOWN_ID),
        problem.status(),
        null,
        exchange.logged(id, problem).details());
  }
}
