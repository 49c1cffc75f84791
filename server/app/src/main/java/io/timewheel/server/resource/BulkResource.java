// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import static java.util.Objects.requireNonNullElse;

import io.timewheel.api.BulkRequest;
import io.timewheel.durable.BatchResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerCommands;
import io.timewheel.durable.TimerFilter;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerList;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.server.http.Body;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.FairLimit;
import io.timewheel.server.http.IdempotencyKey;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.http.Work;
import io.timewheel.server.json.Json;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.problem.Names;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Role;
import io.timewheel.server.settings.WorkLimits;
import io.timewheel.server.store.StoreReads;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Applies one verb to all timers that match a filter, to each separately, by page. If the caller
 * expects a number, the timers are counted first. If the number differs, nothing is changed.
 * Otherwise, only counted versions of timers are changed, even if others match meanwhile.
 *
 * <p>No quota counts these verbs, which operators need most when a quota is used up. They have
 * their own limits: the number at a time, and the pace of all together.
 */
public final class BulkResource {
  private static final int MAX_BODY = 16 * 1024;
  private static final int PAGE = 1_000;

  /** The number at a time: one slot stays free for a backup. */
  static final int AT_A_TIME = WorkLimits.BULKS - 1;

  /** The number of timers that a node changes each second. */
  private static final int PER_SECOND = 20_000;

  private final StoreReads reads;
  private final FairLimit limit = new FairLimit(AT_A_TIME);
  private final Pace pace;

  public BulkResource(StoreReads reads, LongSupplier nanoTime) {
    this.reads = reads;
    pace = new Pace(PER_SECOND, nanoTime);
  }

  /** Changes some timers, and returns the number of changed ones. */
  private interface Change {
    long apply(DurableTimer timer, List<TimerKey> keys, @Nullable RequestId request);
  }

  /**
   * The timers to change.
   *
   * @param condition a condition in addition to the filter
   * @param count their number; 0 if they have not been counted
   */
  private record Selection(TimerFilter filter, Predicate<TimerInfo> condition, long count) {}

  public void addTo(Router router) {
    add(router, "cancel", BulkResource::cancel);
    add(router, "pause", (timer, keys, request) -> done(timers(timer, keys, request).pause()));
    add(router, "resume", (timer, keys, request) -> done(timers(timer, keys, request).resume()));
    add(router, "retry", (timer, keys, request) -> done(timers(timer, keys, request).retry()));
  }

  private void add(Router router, String name, Change change) {
    router.write(
        Route.of("POST", TimerListResource.TIMERS + ":" + name, Role.OPERATE).with(Work.BULK),
        exchange -> bulk(exchange, change));
  }

  private Body<?> bulk(Exchange exchange, Change change) {
    var unused = reads.timer(); // fails with 503 until there is a timer
    String namespace = exchange.request().namespace();
    return Body.text(
        MAX_BODY,
        text -> {
          BulkRequest request = JsonReader.read(text, BulkRequest.class);
          Selection filter = filter(exchange, namespace, request.filter());
          checkIntent(request);
          IdempotencyKey key = IdempotencyKey.of(exchange.request());
          limited(
              exchange,
              () -> {
                BulkRequest.Answer answer =
                    key == null
                        ? changeExpected(exchange, filter, request.expect(), change)
                        : changeOnce(exchange, filter, request, change, key);
                exchange.note("changed", answer.changed());
                exchange.json(200, answer);
              });
        });
  }

  private void limited(Exchange exchange, Runnable work) {
    String client = exchange.request().client();
    String reached = limit.take(client);
    if (reached != null) {
      throw Problem.of(429, "over_limit", "too many bulk changes at a time (" + reached + ")")
          .header("Retry-After", "1")
          .failure();
    }
    try {
      work.run();
    } finally {
      limit.release(client);
    }
  }

  private void awaitTurn(int timers) {
    try {
      TimeUnit.NANOSECONDS.sleep(pace.reserve(timers));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Problem.unavailable("the server is shutting down").failure();
    }
  }

  private BulkRequest.Answer change(
      Exchange exchange, Selection selected, Change change, @Nullable RequestId request) {
    long[] found = {0};
    long[] changed = {0};
    pages(
        exchange,
        selected,
        timers -> {
          awaitTurn(timers.size());
          found[0] += timers.size();
          List<TimerKey> keys = timers.stream().map(TimerInfo::key).toList();
          changed[0] += change.apply(reads.timer(), keys, request);
        });
    return new BulkRequest.Answer(found[0], changed[0]);
  }

  private BulkRequest.Answer changeExpected(
      Exchange exchange, Selection filter, @Nullable Long expect, Change change) {
    if (expect == null) {
      return change(exchange, filter, change, null);
    }
    Selection counted = count(exchange, filter, expect);
    return new BulkRequest.Answer(expect, change(exchange, counted, change, null).changed());
  }

  /**
   * Changes the timers once for each idempotency key. The count is stored before the first change,
   * and the answer after the last change. Each timer stores the request with its change. So if the
   * server was killed meanwhile, a repeated request continues with the remaining timers. It then
   * also changes timers that match since then.
   */
  private BulkRequest.Answer changeOnce(
      Exchange exchange, Selection filter, BulkRequest request, Change change, IdempotencyKey key) {
    String content = Json.text(request);
    TimerKey about = new TimerKey(exchange.request().namespace(), "timers");
    RequestId countId = key.part("count").request(content);
    RequestId changedId = key.part("changed").request(content);
    OptionalLong before = keep(about, countId, OptionalLong.empty());
    OptionalLong done = keep(about, changedId, OptionalLong.empty());
    if (before.isPresent() && done.isPresent()) {
      exchange.note("repeated", "true");
      return new BulkRequest.Answer(before.getAsLong(), done.getAsLong());
    }
    Selection selected = before.isPresent() ? filter : count(exchange, filter, request.expect());
    OptionalLong counted = before.isPresent() ? before : OptionalLong.of(selected.count);
    long count = keep(about, countId, counted).orElseThrow();
    BulkRequest.Answer rest = change(exchange, selected, change, key.request(content));
    long changedBefore = before.isPresent() ? Math.max(0, count - rest.count()) : 0;
    OptionalLong all = OptionalLong.of(changedBefore + rest.changed());
    return new BulkRequest.Answer(count, keep(about, changedId, all).orElseThrow());
  }

  private OptionalLong keep(TimerKey about, RequestId request, OptionalLong answer) {
    return keep(reads.timer(), about, request, answer);
  }

  /** {@return the stored answer to a request; throws if its content differs} */
  static OptionalLong keep(
      DurableTimer timer, TimerKey about, RequestId request, OptionalLong answer) {
    return await(timer.async().keepAnswer(about, request, answer));
  }

  private static TimerCommands<List<BatchResult<CancelResult>>, List<BatchResult<VerbResult>>>
      timers(DurableTimer timer, List<TimerKey> keys, @Nullable RequestId request) {
    return timer.timers(keys).requestId(request);
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
      throw Problem.missing("expect", "the number of timers, or force: true");
    }
    if (request.expect() != null && force) {
      throw Problem.invalid("force", "force: true together with expect (expected: one of them)")
          .failure();
    }
  }

  private static Selection filter(
      Exchange exchange, String namespace, BulkRequest.@Nullable Filter sent) {
    if (sent == null) {
      throw Problem.missing("filter", "a filter; {} for all");
    }
    List<String> states =
        requireNonNullElse(sent.state(), List.<String>of()).stream()
            .flatMap(Pattern.compile(",")::splitAsStream)
            .toList();
    TimerFilter filter =
        TimerListResource.filter(
            namespace,
            states,
            sent.prefix(),
            sent.dueFrom(),
            sent.dueTo(),
            sent.handler(),
            sent.queue() != null);
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
    return new Selection(filter.withoutPayload(), TimerListResource.inStates(states), 0);
  }

  /** {@return the versions of timers that match at present; takes 8 bytes of memory for each} */
  private Selection count(Exchange exchange, Selection selected, @Nullable Long expected) {
    LongStream.Builder found = LongStream.builder();
    pages(exchange, selected, timers -> timers.forEach(timer -> found.add(hash(timer))));
    long[] hashes = found.build().toArray();
    if (expected != null && expected != hashes.length) {
      throw Problem.of(409, "count_differs", hashes.length + " timers (expected: " + expected + ")")
          .with("count", hashes.length)
          .failure();
    }
    Arrays.sort(hashes);
    Predicate<TimerInfo> isCounted = timer -> Arrays.binarySearch(hashes, hash(timer)) >= 0;
    return new Selection(selected.filter, selected.condition.and(isCounted), hashes.length);
  }

  /** {@return a hash of 60 bits of the ID and version} */
  private static long hash(TimerInfo timer) {
    String text = timer.version() + ":" + timer.key().id();
    return UUID.nameUUIDFromBytes(text.getBytes(StandardCharsets.UTF_8)).getMostSignificantBits();
  }

  /** Passes each page of selected timers to a function. Each page has its own deadline. */
  private void pages(Exchange exchange, Selection selected, Consumer<List<TimerInfo>> each) {
    String next = null;
    do {
      String from = next;
      exchange.deadline().restart(Duration.ZERO);
      TimerList page = reads.ask(timer -> timer.timers(selected.filter).list(PAGE, from));
      exchange.deadline().restart(Duration.ZERO);
      each.accept(page.timers().stream().filter(selected.condition).toList());
      next = page.nextPage().orElse(null);
    } while (next != null);
  }

  private static long cancel(DurableTimer timer, List<TimerKey> keys, @Nullable RequestId request) {
    return timers(timer, keys, request).cancel().stream()
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
