// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.timewheel.durable.BatchResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.ScheduleResult;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.server.document.TimerRequest;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.Preconditions;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.problem.Names;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Role;
import io.timewheel.server.store.StoreReads;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** Many timers put in one request, each on its own. */
public final class BatchResource {
  private static final int MAX_BODY = 16 << 20;
  private static final int MAX_ITEMS = 1_000;

  private final StoreReads reads;
  private final Predicate<String> secrets;

  /**
   * Makes the resource.
   *
   * @param secrets whether webhooks can be signed by a name
   */
  public BatchResource(StoreReads reads, Predicate<String> secrets) {
    this.reads = reads;
    this.secrets = secrets;
  }

  public void addTo(Router router) {
    router.add(Route.of("POST", TimerListResource.TIMERS + ":batch", Role.WRITE), this::batch);
  }

  /** An item, and what became of it so far. */
  private record Item(@Nullable String id, @Nullable TimerSpec spec, @Nullable Problem problem) {}

  private void batch(Exchange exchange) {
    DurableTimer timer = reads.timer();
    String namespace = exchange.namespace();
    String requestId = exchange.header("Idempotency-Key");
    exchange.body(
        MAX_BODY,
        body -> {
          List<Item> items = items(namespace, requestId, body);
          List<TimerSpec> specs = new ArrayList<>();
          for (Item item : items) {
            if (item.spec != null) {
              specs.add(item.spec);
            }
          }
          exchange.note(
              "ids", items.stream().filter(item -> item.spec != null).map(Item::id).toList());
          exchange.on(timer.scheduleAllAsync(specs), results -> answer(exchange, items, results));
        });
  }

  private List<Item> items(String namespace, @Nullable String requestId, String body) {
    List<String> texts = new ArrayList<>();
    JsonReader.document(
        body,
        (name, value) -> {
          if (!name.equals("timers")) {
            return false;
          }
          value.array(() -> texts.add(value.raw()));
          return true;
        });
    if (texts.isEmpty() || texts.size() > MAX_ITEMS) {
      throw Problem.invalid(
              "timers", "timers: " + texts.size() + " (expected: 1 to " + MAX_ITEMS + ")")
          .failure();
    }
    Map<String, Integer> times = new HashMap<>();
    return texts.stream().map(text -> item(namespace, requestId, times, text)).toList();
  }

  private Item item(
      String namespace, @Nullable String requestId, Map<String, Integer> times, String text) {
    String id = null;
    try {
      TimerRequest request = TimerRequest.readItem(text);
      id = request.id();
      if (id == null) {
        throw Problem.invalid("id", "id: none (expected: the id of the timer)").failure();
      }
      String checked = Names.checked("id", id);
      TimerSpec spec = request.spec(namespace, checked, secrets);
      Preconditions.of(request.ifMatch(), request.ifNoneMatch())
          .apply(spec, () -> reads.get(new TimerKey(namespace, checked)));
      if (requestId != null) {
        spec.requestId(requestId(requestId, times.merge(id, 1, Integer::sum)));
      }
      return new Item(id, spec, null);
    } catch (RuntimeException e) {
      return new Item(id, null, Problem.of(e));
    }
  }

  /** A timer that a batch names again is asked for again, and not answered as the first time. */
  private static String requestId(String key, int time) {
    return time == 1 ? key : UUID.nameUUIDFromBytes((key + " " + time).getBytes(UTF_8)).toString();
  }

  private static void answer(
      Exchange exchange, List<Item> items, List<BatchResult<ScheduleResult>> results) {
    exchange.json(
        200,
        json -> {
          json.writeStartObject();
          json.writeArrayPropertyStart("results");
          int done = 0;
          for (Item item : items) {
            json.writeStartObject();
            if (item.id != null) {
              json.writeStringProperty("id", item.id);
            }
            if (item.problem != null) {
              problem(json, item.problem);
            } else {
              result(json, results.get(done++));
            }
            json.writeEndObject();
          }
          json.writeEndArray();
          json.writeEndObject();
        });
  }

  private static void result(JsonGenerator json, BatchResult<ScheduleResult> result) {
    ScheduleResult scheduled = result.result();
    if (scheduled == null) {
      problem(json, Problem.of(requireNonNull(result.error())));
    } else {
      boolean created = scheduled.outcome() == ScheduleResult.Outcome.CREATED;
      json.writeNumberProperty("status", created ? 201 : 200);
      json.writeNumberProperty("version", scheduled.version());
    }
  }

  private static void problem(JsonGenerator json, Problem problem) {
    json.writeNumberProperty("status", problem.status());
    json.writeName("error");
    problem.write(json);
  }
}
