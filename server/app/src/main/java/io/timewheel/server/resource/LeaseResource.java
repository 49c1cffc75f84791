// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import io.timewheel.api.LeaseBatch;
import io.timewheel.api.LeaseRequest;
import io.timewheel.api.OutcomeAnswer;
import io.timewheel.durable.BatchResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.LeaseChange;
import io.timewheel.durable.model.FireId;
import io.timewheel.durable.model.LeaseResult;
import io.timewheel.server.document.TimerSpecs;
import io.timewheel.server.http.Body;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.IdempotencyKey;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.json.Json;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.json.Parsed;
import io.timewheel.server.problem.Names;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Role;
import io.timewheel.server.store.StoreReads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Ends and extends claim leases, of one firing or of up to 1,000, each independently. */
public final class LeaseResource {
  private static final String FIRINGS = "/v1/namespaces/{ns}/firings";
  private static final int MAX_BODY = 64 * 1024;
  private static final int MAX_BATCH_BODY = 16 << 20;

  /** The length of the longest fire ID. A refused ID may be longer. */
  private static final int MAX_SHOWN_ID = 720;

  private static final Pattern LEASE_TOKEN = Pattern.compile("[0-9a-f]{32}");

  private final StoreReads reads;

  public LeaseResource(StoreReads reads) {
    this.reads = reads;
  }

  public void addTo(Router router) {
    LeaseCall<LeaseRequest.Ack> ack = (timer, id, request, token) -> LeaseChange.ack(id, token);
    add(router, "ack", LeaseRequest.Ack.class, ack);
    add(router, "nack", LeaseRequest.Nack.class, LeaseResource::nack);
    add(router, "extend", LeaseRequest.Extend.class, LeaseResource::extend);
    addBatch(router, "ack", LeaseBatch.Ack.class, item -> item.request(), ack);
    addBatch(router, "nack", LeaseBatch.Nack.class, item -> item.request(), LeaseResource::nack);
    addBatch(
        router, "extend", LeaseBatch.Extend.class, item -> item.request(), LeaseResource::extend);
  }

  /** Creates the end of a claim lease, or its extension. */
  private interface LeaseCall<T> {
    LeaseChange apply(DurableTimer timer, FireId fireId, T request, String leaseToken);
  }

  private <T extends LeaseRequest> void add(
      Router router, String verb, Class<T> type, LeaseCall<T> call) {
    router.write(
        Route.of("POST", FIRINGS + "/{fireId}:" + verb, Role.CONSUME),
        exchange -> end(exchange, type, call));
  }

  private <T extends LeaseRequest> Body<?> end(
      Exchange exchange, Class<T> type, LeaseCall<T> call) {
    DurableTimer timer = reads.timer();
    IdempotencyKey key = IdempotencyKey.of(exchange.request());
    FireId fireId = fireId(exchange.request().namespace(), exchange.request().path("fireId"));
    exchange.note("id", fireId.key().id());
    return Body.text(
        MAX_BODY,
        body -> {
          LeaseChange change = change(timer, fireId, JsonReader.read(body, type), key, call);
          if (change == null) {
            ended(exchange, LeaseResult.LOST);
          } else {
            exchange.on(
                reads.ask(asked -> asked.async().changeLease(change)),
                result -> ended(exchange, result));
          }
        });
  }

  /**
   * Returns the change of a claim lease. A client may use the fire ID as its key, and a fire ID has
   * a claim lease for each attempt. So a key is valid for one claim lease.
   *
   * @return the change; null if no claim lease ever had this token
   */
  private static <T extends LeaseRequest> @Nullable LeaseChange change(
      DurableTimer timer,
      FireId fireId,
      T request,
      @Nullable IdempotencyKey key,
      LeaseCall<T> call) {
    String token = leaseToken(request.leaseToken());
    if (!LEASE_TOKEN.matcher(token).matches()) {
      return null;
    }
    LeaseChange change = call.apply(timer, fireId, request, token);
    return key == null
        ? change
        : change.requestId(key.part("lease " + token).request(Json.text(request)));
  }

  private static String leaseToken(@Nullable String token) {
    if (token == null) {
      throw Problem.missing("leaseToken", "the token of the firing");
    }
    return token;
  }

  private static LeaseChange nack(
      DurableTimer timer, FireId fireId, LeaseRequest.Nack nack, String token) {
    String error = requireNonNullElse(nack.error(), "the consumer gave no reason");
    Duration after = nack.after();
    return LeaseChange.nack(
        fireId, token, error, after == null ? null : TimerSpecs.checkedAfter(after, timer.now()));
  }

  private static LeaseChange extend(
      DurableTimer timer, FireId fireId, LeaseRequest.Extend extend, String token) {
    Duration sent = extend.leaseDuration();
    if (sent == null) {
      throw Problem.missing("leaseDuration", "a duration");
    }
    return LeaseChange.extend(
        fireId,
        token,
        QueueResource.between(
            "leaseDuration",
            sent,
            QueueResource.LEASE,
            QueueResource.MIN_LEASE,
            QueueResource.MAX_LEASE));
  }

  /**
   * Parses a fire ID. A text that is not a fire ID, or is one of another namespace, identifies no
   * firing here.
   */
  private static FireId fireId(String namespace, String text) {
    try {
      FireId fireId = FireId.parse(text);
      if (fireId.key().namespace().equals(namespace)) {
        return fireId;
      }
    } catch (IllegalArgumentException e) {
      // refused below
    }
    throw Problem.of(404, "not_found", "there is no such firing").failure();
  }

  private static void ended(Exchange exchange, LeaseResult result) {
    Problem problem = problem(result);
    if (problem == null) {
      exchange.json(200, new OutcomeAnswer("done"));
    } else {
      exchange.problem(problem);
    }
  }

  private static @Nullable Problem problem(LeaseResult result) {
    return switch (result) {
      case DONE -> null;
      case LOST -> Problem.of(409, "lease_lost", "the claim lease has expired or was ended before");
      case NOT_FOUND -> Problem.of(404, "not_found", "there is no such firing");
    };
  }

  // Batches

  /** A batch without its firings, each of which may be refused alone. */
  private record Batch(@Nullable List<Object> firings) {}

  private <I extends LeaseBatch.Item, T extends LeaseRequest> void addBatch(
      Router router, String verb, Class<I> type, Function<I, T> request, LeaseCall<T> call) {
    router.write(
        Route.of("POST", FIRINGS + ":" + verb, Role.CONSUME),
        exchange -> {
          DurableTimer timer = reads.timer();
          IdempotencyKey key = IdempotencyKey.of(exchange.request());
          return Body.batch(
              MAX_BATCH_BODY,
              body -> {
                List<String> ids = new ArrayList<>();
                List<Item> items =
                    body.convert(
                        Batch.class,
                        "firings",
                        type,
                        "fireId",
                        sent ->
                            item(
                                timer,
                                exchange.request().namespace(),
                                sent,
                                key,
                                request,
                                call,
                                ids));
                exchange.note("ids", ids);
                List<LeaseChange> changes =
                    items.stream().map(Item::change).filter(Objects::nonNull).toList();
                exchange.on(
                    reads.ask(asked -> asked.async().changeLeases(changes)),
                    results -> exchange.json(200, answer(exchange, items, results.iterator())));
              });
        });
  }

  /** A firing of a batch: the change of its claim lease, or the reason why it is refused. */
  private record Item(
      @Nullable String fireId, @Nullable LeaseChange change, @Nullable Problem problem) {}

  private static <I extends LeaseBatch.Item, T extends LeaseRequest> Item item(
      DurableTimer timer,
      String namespace,
      Parsed<I> sent,
      @Nullable IdempotencyKey key,
      Function<I, T> request,
      LeaseCall<T> call,
      List<String> ids) {
    I item = sent.value();
    if (item == null) {
      return new Item(sent.id(), null, sent.problem());
    }
    String text = item.fireId();
    try {
      if (text == null) {
        throw Problem.missing("fireId", "the ID of the firing");
      }
      FireId fireId = fireId(namespace, text);
      ids.add(fireId.key().id());
      LeaseChange change = change(timer, fireId, request.apply(item), key, call);
      return new Item(text, change, change == null ? problem(LeaseResult.LOST) : null);
    } catch (RuntimeException e) {
      return new Item(text, null, Problem.of(e));
    }
  }

  private static LeaseBatch.Answer answer(
      Exchange exchange, List<Item> items, Iterator<BatchResult<LeaseResult>> results) {
    return new LeaseBatch.Answer(
        items.stream()
            .map(
                item -> {
                  Problem problem = item.change == null ? item.problem : problem(results.next());
                  return problem == null
                      ? new LeaseBatch.Answer.Result(item.fireId, 200, null)
                      : new LeaseBatch.Answer.Result(
                          item.fireId == null ? null : Names.shown(item.fireId, MAX_SHOWN_ID),
                          problem.status(),
                          exchange.logged(item.fireId, problem).details());
                })
            .toList());
  }

  private static @Nullable Problem problem(BatchResult<LeaseResult> result) {
    LeaseResult ended = result.result();
    return ended == null ? Problem.of(requireNonNull(result.error())) : problem(ended);
  }
}
