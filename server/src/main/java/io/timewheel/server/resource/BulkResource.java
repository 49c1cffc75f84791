// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import static java.util.Objects.requireNonNullElse;

import io.timewheel.api.BulkAnswer;
import io.timewheel.api.BulkRequest;
import io.timewheel.durable.BatchResult;
import io.timewheel.durable.CancelResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerFilter;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerList;
import io.timewheel.durable.VerbResult;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
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
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Applies one verb to all timers that match a filter. It counts them first, and changes nothing if
 * the number differs from the expected one. Then it changes each timer separately, by page.
 */
public final class BulkResource {
  private static final int MAX_BODY = 16 * 1024;
  private static final int PAGE = 1_000;

  private final StoreReads reads;

  public BulkResource(StoreReads reads) {
    this.reads = reads;
  }

  /** Changes some timers, and returns the number of changed ones. */
  private interface Change {
    long apply(DurableTimer timer, List<TimerKey> keys, @Nullable RequestId request);
  }

  public void addTo(Router router) {
    add(router, "cancel", BulkResource::cancel);
    for (String name : List.of("pause", "resume", "retry")) {
      add(
          router,
          name,
          (timer, keys, request) ->
              done(await(timer.verbAllAsync(keys, TimerVerbResource.verb(name), request))));
    }
  }

  private void add(Router router, String name, Change change) {
    router.add(
        Route.of("POST", TimerListResource.TIMERS + ":" + name, Role.OPERATE).with(Work.BULK),
        exchange -> bulk(exchange, change));
  }

  private void bulk(Exchange exchange, Change change) {
    var unused = reads.timer(); // fails with 503 until there is a timer
    String namespace = exchange.namespace();
    exchange.body(
        MAX_BODY,
        text -> {
          BulkRequest request = JsonReader.read(text, BulkRequest.class);
          TimerFilter filter = filter(exchange, namespace, request.filter());
          checkIntent(request);
          IdempotencyKey key = IdempotencyKey.of(exchange);
          BulkAnswer answer =
              key == null
                  ? change(exchange, filter, request.expect(), change)
                  : changeOnce(exchange, filter, request, change, key);
          exchange.note("changed", answer.changed());
          exchange.json(200, answer);
        });
  }

  private BulkAnswer change(
      Exchange exchange, TimerFilter filter, @Nullable Long expect, Change change) {
    long count = count(exchange, filter, expect);
    long[] changed = {0};
    pages(exchange, filter, keys -> changed[0] += change.apply(reads.timer(), keys, null));
    return new BulkAnswer(count, changed[0]);
  }

  /**
   * Changes the timers once for each idempotency key. The count is stored before the first change,
   * and the answer after the last change. Each timer stores the request with its change. So if the
   * server was killed meanwhile, a repeated request continues with the remaining timers.
   */
  private BulkAnswer changeOnce(
      Exchange exchange,
      TimerFilter filter,
      BulkRequest request,
      Change change,
      IdempotencyKey key) {
    String content = Json.text(request);
    TimerKey about = new TimerKey(exchange.namespace(), "timers");
    RequestId countId = key.part("count").request(content);
    RequestId changedId = key.part("changed").request(content);
    OptionalLong before = keep(about, countId, OptionalLong.empty());
    OptionalLong done = keep(about, changedId, OptionalLong.empty());
    if (before.isPresent() && done.isPresent()) {
      exchange.note("repeated", "true");
      return new BulkAnswer(before.getAsLong(), done.getAsLong());
    }
    OptionalLong counted =
        before.isPresent() ? before : OptionalLong.of(count(exchange, filter, request.expect()));
    long count = keep(about, countId, counted).orElseThrow();
    RequestId id = key.request(content);
    long[] found = {0};
    long[] changed = {0};
    pages(
        exchange,
        filter,
        keys -> {
          found[0] += keys.size();
          changed[0] += change.apply(reads.timer(), keys, id);
        });
    long changedBefore = before.isPresent() ? Math.max(0, count - found[0]) : 0;
    OptionalLong all = OptionalLong.of(changedBefore + changed[0]);
    return new BulkAnswer(count, keep(about, changedId, all).orElseThrow());
  }

  private OptionalLong keep(TimerKey about, RequestId request, OptionalLong answer) {
    return await(reads.timer().keepAnswerAsync(about, request, answer));
  }

  private static <T> T await(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw e;
    }
  }

  /**
   * Checks that the caller intends this change: a wrong filter, such as an empty one, must not
   * change more timers than intended.
   */
  private static void checkIntent(BulkRequest request) {
    boolean force = Boolean.TRUE.equals(request.force());
    if (request.expect() == null && !force) {
      throw Problem.invalid(
              "expect", "expect: is missing (expected: the number of timers, or force: true)")
          .failure();
    }
    if (request.expect() != null && force) {
      throw Problem.invalid("force", "force: true together with expect (expected: one of them)")
          .failure();
    }
  }

  private static TimerFilter filter(
      Exchange exchange, String namespace, BulkRequest.@Nullable Filter sent) {
    if (sent == null) {
      throw Problem.invalid("filter", "filter: is missing (expected: a filter; {} for all)")
          .failure();
    }
    List<String> states =
        requireNonNullElse(sent.state(), List.<String>of()).stream()
            .flatMap(Pattern.compile(",")::splitAsStream)
            .toList();
    TimerFilter filter =
        TimerListResource.filter(
            namespace, states, sent.prefix(), sent.dueFrom(), sent.dueTo(), sent.handler());
    exchange.note("states", states);
    exchange.note("prefix", sent.prefix());
    exchange.note("dueFrom", sent.dueFrom());
    exchange.note("dueTo", sent.dueTo());
    exchange.note("handler", sent.handler());
    String queue = sent.queue();
    if (queue != null) {
      if (sent.handler() != null) {
        throw Problem.invalid("queue", "queue: " + queue + " together with handler").failure();
      }
      exchange.note("queue", queue);
      filter = filter.queue(Names.checked("queue", queue));
    }
    return filter.withoutPayload();
  }

  private long count(Exchange exchange, TimerFilter filter, @Nullable Long expected) {
    long[] count = {0};
    pages(exchange, filter, keys -> count[0] += keys.size());
    if (expected != null && expected != count[0]) {
      throw Problem.of(409, "count_differs", count[0] + " timers (expected: " + expected + ")")
          .with("count", count[0])
          .failure();
    }
    return count[0];
  }

  /** Passes each page of matching timers to a function. Each page has its own deadline. */
  private void pages(Exchange exchange, TimerFilter filter, Consumer<List<TimerKey>> each) {
    String next = null;
    do {
      String from = next;
      exchange.expectAnswer(Duration.ZERO);
      TimerList page = reads.ask(timer -> timer.list(filter, PAGE, from));
      exchange.expectAnswer(Duration.ZERO);
      each.accept(page.timers().stream().map(TimerInfo::key).toList());
      next = page.nextPage().orElse(null);
    } while (next != null);
  }

  private static long cancel(DurableTimer timer, List<TimerKey> keys, @Nullable RequestId request) {
    return await(timer.cancelAllAsync(keys, request)).stream()
        .map(BatchResult::orThrow)
        .filter(result -> result.outcome() == CancelResult.Outcome.CANCELLED)
        .count();
  }

  private static long done(List<BatchResult<VerbResult>> results) {
    return results.stream()
        .map(BatchResult::orThrow)
        .filter(result -> result == VerbResult.DONE)
        .count();
  }
}
