// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import io.timewheel.durable.BatchResult;
import io.timewheel.durable.CancelResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerFilter;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerList;
import io.timewheel.durable.VerbResult;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.IdempotencyKeys;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Role;
import io.timewheel.server.store.StoreReads;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One verb for all timers that a filter finds. They are counted first, and nothing is done if there
 * are not as many as the caller expects; then each is changed by itself, a page at a time.
 */
public final class BulkResource {
  private static final int MAX_BODY = 16 * 1024;
  private static final int PAGE = 1_000;

  private final StoreReads reads;
  private final IdempotencyKeys idempotencyKeys;

  public BulkResource(StoreReads reads, IdempotencyKeys idempotencyKeys) {
    this.reads = reads;
    this.idempotencyKeys = idempotencyKeys;
  }

  /** Changes some timers, and tells how many of them it changed. */
  private interface Change {
    long apply(DurableTimer timer, List<TimerKey> keys);
  }

  public void addTo(Router router) {
    add(router, "cancel", BulkResource::cancel);
    for (String name : List.of("pause", "resume", "retry")) {
      add(router, name, (timer, keys) -> done(timer.verbAll(keys, TimerVerbResource.verb(name))));
    }
  }

  private void add(Router router, String name, Change change) {
    router.add(
        Route.of("POST", TimerListResource.TIMERS + ":" + name, Role.WRITE),
        exchange -> bulk(exchange, change));
  }

  /** What is sent. */
  private static final class Body {
    private final List<String> states = new ArrayList<>();
    private @Nullable String prefix;
    private @Nullable Instant dueFrom;
    private @Nullable Instant dueTo;
    private @Nullable String handler;
    private @Nullable Long expect;
    private boolean filtered;

    boolean field(String name, JsonReader value) {
      switch (name) {
        case "filter" -> {
          filtered = true;
          value.object(this::filterField);
        }
        case "expect" -> expect = value.integer();
        default -> {
          return false;
        }
      }
      return true;
    }

    private boolean filterField(String name, JsonReader value) {
      switch (name) {
        case "state" -> {
          if (value.isArray()) {
            value.array(() -> states.add(value.text()));
          } else if (!value.isNull()) {
            states.addAll(List.of(value.text().split(",")));
          }
        }
        case "prefix" -> prefix = value.string();
        case "dueFrom" -> dueFrom = value.instant();
        case "dueTo" -> dueTo = value.instant();
        case "handler" -> handler = value.string();
        default -> {
          return false;
        }
      }
      return true;
    }

    void note(Exchange exchange) {
      exchange.note("states", states);
      exchange.note("prefix", prefix);
      exchange.note("dueFrom", dueFrom);
      exchange.note("dueTo", dueTo);
      exchange.note("handler", handler);
    }

    TimerFilter filter(String namespace) {
      if (!filtered) {
        throw Problem.invalid("filter", "filter: none (expected: one; {} is for all)").failure();
      }
      return TimerListResource.filter(namespace, states, prefix, dueFrom, dueTo, handler)
          .withoutPayload();
    }
  }

  private void bulk(Exchange exchange, Change change) {
    DurableTimer timer = reads.timer();
    String namespace = exchange.namespace();
    exchange.body(
        MAX_BODY,
        text -> {
          Body body = new Body();
          JsonReader.document(text, body::field);
          TimerFilter filter = body.filter(namespace);
          body.note(exchange);
          idempotencyKeys.answer(
              exchange,
              () -> {
                long count = count(filter, body.expect);
                long[] changed = {0};
                pages(filter, keys -> changed[0] += change.apply(timer, keys));
                exchange.note("changed", changed[0]);
                return CompletableFuture.completedStage(each -> changed(each, count, changed[0]));
              });
        });
  }

  private long count(TimerFilter filter, @Nullable Long expected) {
    long[] count = {0};
    pages(filter, keys -> count[0] += keys.size());
    if (expected != null && expected != count[0]) {
      throw Problem.of(409, "count_differs", count[0] + " timers (expected: " + expected + ")")
          .with("count", count[0])
          .failure();
    }
    return count[0];
  }

  private static void changed(Exchange exchange, long count, long changed) {
    exchange.json(
        200,
        json -> {
          json.writeStartObject();
          json.writeNumberProperty("count", count);
          json.writeNumberProperty("changed", changed);
          json.writeEndObject();
        });
  }

  private void pages(TimerFilter filter, Consumer<List<TimerKey>> each) {
    String next = null;
    do {
      String from = next;
      TimerList page = reads.ask(timer -> timer.list(filter, PAGE, from));
      each.accept(page.timers().stream().map(TimerInfo::key).toList());
      next = page.nextPage().orElse(null);
    } while (next != null);
  }

  private static long cancel(DurableTimer timer, List<TimerKey> keys) {
    return timer.cancelAll(keys).stream()
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
