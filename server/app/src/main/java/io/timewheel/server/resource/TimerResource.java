// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import io.timewheel.api.OutcomeAnswer;
import io.timewheel.api.TimerRequest;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.ScheduleResult;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.server.document.Preconditions;
import io.timewheel.server.document.TimerPatch;
import io.timewheel.server.document.TimerSpecs;
import io.timewheel.server.document.TimerView;
import io.timewheel.server.http.ApiRequest;
import io.timewheel.server.http.Body;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.IdempotencyKey;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.http.Work;
import io.timewheel.server.json.Json;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.problem.Names;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Role;
import io.timewheel.server.store.StoreReads;
import io.timewheel.server.trace.Tracing;
import io.timewheel.server.webhook.SecretSource;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Creates, changes, shows and cancels one timer. */
public final class TimerResource {
  public static final String TIMER = "/v1/namespaces/{ns}/timers/{id}";

  /** The largest body: the largest payload and headers, escaped, and the other fields. */
  private static final int MAX_BODY = 256 * 1024;

  private final StoreReads reads;
  private final SecretSource secrets;

  public TimerResource(StoreReads reads, SecretSource secrets) {
    this.reads = reads;
    this.secrets = secrets;
  }

  public void addTo(Router router) {
    router.write(Route.of("PUT", TIMER, Role.PRODUCE), this::put);
    router.write(Route.of("PATCH", TIMER, Role.PRODUCE, Role.OPERATE), this::patch);
    router.read(Route.of("GET", TIMER, Role.READ, Role.PRODUCE).with(Work.SHORT), this::get);
    router.write(Route.of("DELETE", TIMER, Role.PRODUCE, Role.OPERATE), this::delete);
  }

  static TimerKey key(ApiRequest request) {
    return new TimerKey(request.namespace(), Names.checked("id", request.path("id")));
  }

  /**
   * {@return the secrets that a caller may name; only an administrator may name one without hosts}
   */
  static SecretSource secrets(ApiRequest request, SecretSource secrets) {
    return request.caller().roles().contains(Role.ADMIN) ? secrets : secrets.boundToHosts();
  }

  private Body<?> put(Exchange exchange) {
    DurableTimer timer = reads.timer();
    TimerKey key = key(exchange.request());
    Preconditions conditions = Preconditions.of(exchange.request());
    IdempotencyKey idempotency = IdempotencyKey.of(exchange.request());
    return Body.text(
        MAX_BODY,
        body -> {
          TimerRequest sent = JsonReader.read(body, TimerRequest.class);
          Tracing.Span span = span(exchange.request(), key);
          TimerSpec spec =
              TimerSpecs.of(
                  key.namespace(),
                  key.id(),
                  sent.withHeader(Tracing.HEADER, span.traceparent()),
                  secrets(exchange.request(), secrets),
                  timer.now());
          spec.maxPending(
              exchange.quotas().maxPending(exchange.request().caller(), key.namespace()));
          conditions.apply(spec, () -> reads.get(key));
          if (idempotency != null) {
            spec.requestId(idempotency.request(Json.text(sent)));
          }
          exchange.on(
              span.over(timer.async().schedule(spec)),
              result ->
                  made(
                      exchange,
                      result,
                      stored(result, idempotency)
                          .filter(present -> present.version() == result.version())));
        });
  }

  private static Tracing.Span span(ApiRequest request, TimerKey key) {
    return Tracing.get()
        .schedule(
            request.header(Tracing.HEADER),
            Map.of("timewheel.namespace", key.namespace(), "timewheel.id", key.id()));
  }

  /** {@return the timer after a request; read only if it may be older than the request} */
  private Optional<TimerInfo> stored(ScheduleResult result, @Nullable IdempotencyKey idempotency) {
    boolean mayBeOlder =
        result.outcome() == ScheduleResult.Outcome.UNCHANGED || idempotency != null;
    return mayBeOlder ? reads.get(result.timer().key()) : Optional.of(result.timer());
  }

  /** Answers with the stored timer, or else as the request states it. */
  private static void made(Exchange exchange, ScheduleResult result, Optional<TimerInfo> stored) {
    int status = result.outcome() == ScheduleResult.Outcome.CREATED ? 201 : 200;
    exchange.etag(result.version());
    exchange.json(status, TimerView.whole(stored.orElse(result.timer())));
  }

  private Body<?> patch(Exchange exchange) {
    DurableTimer timer = reads.timer();
    TimerKey key = key(exchange.request());
    Preconditions conditions = Preconditions.of(exchange.request()).required();
    IdempotencyKey idempotency = IdempotencyKey.of(exchange.request());
    return Body.text(
        MAX_BODY,
        Json.MERGE_PATCH,
        body -> {
          Optional<TimerInfo> present = reads.get(key);
          TimerSpec spec =
              TimerPatch.apply(
                  present.orElseThrow(() -> Problem.notFound().failure()),
                  body,
                  secrets(exchange.request(), secrets),
                  timer.now(),
                  exchange::reserve);
          conditions.apply(spec, () -> present);
          if (idempotency != null) {
            spec.requestId(idempotency.request(body));
          }
          exchange.on(
              span(exchange.request(), key).over(timer.async().schedule(spec)),
              result -> made(exchange, result, stored(result, idempotency)));
        });
  }

  private void get(Exchange exchange) {
    exchange.request().query();
    TimerKey key = key(exchange.request());
    show(exchange, reads.get(key));
  }

  static void show(Exchange exchange, Optional<TimerInfo> found) {
    TimerInfo info = found.orElseThrow(() -> Problem.notFound().failure());
    exchange.etag(info.version());
    exchange.json(200, TimerView.whole(info));
  }

  private Body<?> delete(Exchange exchange) {
    DurableTimer timer = reads.timer();
    TimerKey key = key(exchange.request());
    Preconditions conditions = Preconditions.of(exchange.request());
    IdempotencyKey idempotency = IdempotencyKey.of(exchange.request());
    return Body.text(
        MAX_BODY,
        body -> {
          JsonReader.empty(body);
          long version = conditions.version(() -> reads.get(key));
          exchange.on(
              timer
                  .async()
                  .timer(key)
                  .ifVersion(version)
                  .requestId(IdempotencyKey.requestOf(idempotency, ""))
                  .cancel(),
              result -> cancelled(exchange, result.outcome()));
        });
  }

  private static void cancelled(Exchange exchange, CancelResult.Outcome outcome) {
    if (outcome == CancelResult.Outcome.NOT_FOUND) {
      exchange.problem(Problem.notFound().with("outcome", "not_found"));
    } else {
      exchange.json(200, new OutcomeAnswer(Json.name(outcome)));
    }
  }
}
