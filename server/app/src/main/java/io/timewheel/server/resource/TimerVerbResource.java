// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import io.timewheel.api.MoveRequest;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerCommands;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.server.document.Preconditions;
import io.timewheel.server.document.TimerSpecs;
import io.timewheel.server.document.TimerView;
import io.timewheel.server.http.Body;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.IdempotencyKey;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.json.Json;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Role;
import io.timewheel.server.store.StoreReads;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletionStage;
import java.util.function.LongFunction;

/** Applies a verb to one timer, such as pause or retry. */
public final class TimerVerbResource {
  private static final int MAX_BODY = 16 * 1024;

  private final StoreReads reads;

  public TimerVerbResource(StoreReads reads) {
    this.reads = reads;
  }

  /** A verb without arguments. */
  private interface Verb {
    CompletionStage<VerbResult> apply(TimerCommands<?, CompletionStage<VerbResult>> timer);
  }

  public void addTo(Router router) {
    add(router, "run", TimerCommands::runNow);
    add(router, "pause", TimerCommands::pause);
    add(router, "resume", TimerCommands::resume);
    add(router, "retry", TimerCommands::retry);
    router.write(
        Route.of("POST", TimerResource.TIMER + ":move", Role.PRODUCE, Role.OPERATE), this::move);
  }

  private void add(Router router, String name, Verb verb) {
    router.write(
        Route.of("POST", TimerResource.TIMER + ":" + name, Role.OPERATE),
        exchange -> verb(exchange, verb));
  }

  private Body<?> verb(Exchange exchange, Verb verb) {
    DurableTimer timer = reads.timer();
    TimerKey key = TimerResource.key(exchange.request());
    Preconditions conditions = Preconditions.of(exchange.request());
    IdempotencyKey idempotency = IdempotencyKey.of(exchange.request());
    return Body.text(
        MAX_BODY,
        body -> {
          JsonReader.empty(body);
          RequestId request = IdempotencyKey.requestOf(idempotency, "");
          answer(
              exchange,
              key,
              conditions,
              version ->
                  verb.apply(timer.async().timer(key).ifVersion(version).requestId(request)));
        });
  }

  private static Instant to(MoveRequest move, Instant now) {
    Instant at = move.at();
    Duration after = move.after();
    if ((at == null) == (after == null)) {
      throw Problem.invalid("at", "expected exactly one of at, after").failure();
    }
    return at != null ? at : now.plus(TimerSpecs.checkedAfter(after, now));
  }

  private Body<?> move(Exchange exchange) {
    DurableTimer timer = reads.timer();
    TimerKey key = TimerResource.key(exchange.request());
    Preconditions conditions = Preconditions.of(exchange.request());
    IdempotencyKey idempotency = IdempotencyKey.of(exchange.request());
    return Body.text(
        MAX_BODY,
        body -> {
          MoveRequest move = JsonReader.read(body, MoveRequest.class);
          Instant to = to(move, timer.now());
          RequestId request = IdempotencyKey.requestOf(idempotency, Json.text(move));
          answer(
              exchange,
              key,
              conditions,
              version -> timer.async().timer(key).ifVersion(version).requestId(request).move(to));
        });
  }

  private void answer(
      Exchange exchange,
      TimerKey key,
      Preconditions conditions,
      LongFunction<CompletionStage<VerbResult>> call) {
    exchange.on(
        call.apply(conditions.version(() -> reads.get(key))), done -> answer(exchange, key, done));
  }

  private void answer(Exchange exchange, TimerKey key, VerbResult done) {
    switch (done) {
      case DONE, UNCHANGED -> TimerResource.show(exchange, reads.get(key));
      case NOT_FOUND -> exchange.problem(Problem.notFound());
      case VERSION_DIFFERS ->
          exchange.problem(Problem.of(412, "precondition_failed", "the timer has another version"));
      case WRONG_STATE -> exchange.problem(wrongState(key));
    }
  }

  private Problem wrongState(TimerKey key) {
    Problem problem = Problem.of(409, "wrong_state", "the state of the timer does not allow it");
    return reads
        .get(key)
        .map(info -> problem.with("state", Json.name(TimerView.state(info))))
        .orElse(problem);
  }
}
