// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.problem.Names;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers the end of a lease with an Idempotency-Key as the first one with that key, without doing
 * it again; one that comes while the first is under way waits for it. A failure is no answer: the
 * next one tries again.
 *
 * <p>The latest answers are kept, by this process alone. All other keys are kept by the store, see
 * {@link IdempotencyKey}.
 */
public final class IdempotencyKeys {
  public static final int MAX_KEPT = 10_000;

  /** A key is good for one operation on one thing, or on one lease of it. */
  private record Request(
      @Nullable Route route, Map<String, String> names, String lease, String key) {}

  private final Map<Request, CompletableFuture<Consumer<Exchange>>> kept = new LinkedHashMap<>();

  /**
   * Answers a request that is for one lease: a client that uses the fire id as its key means
   * another one with each attempt.
   *
   * @param exchange the request
   * @param lease the lease
   * @param first does it, and says how every such request is answered
   */
  public void answer(
      Exchange exchange, String lease, Supplier<CompletionStage<Consumer<Exchange>>> first) {
    String key = exchange.header("Idempotency-Key");
    if (key == null) {
      exchange.on(first.get(), answer -> answer.accept(exchange));
      return;
    }
    Request request =
        new Request(
            exchange.route(), exchange.names(), lease, Names.checked("Idempotency-Key", key));
    CompletableFuture<Consumer<Exchange>> mine = new CompletableFuture<>();
    CompletableFuture<Consumer<Exchange>> before = keep(request, mine);
    if (before != null) {
      exchange.note("repeated", "true");
      exchange.on(before, answer -> answer.accept(exchange));
      return;
    }
    exchange.on(mine, answer -> answer.accept(exchange));
    try {
      var unused =
          first
              .get()
              .whenComplete(
                  (answer, error) -> {
                    if (error == null) {
                      mine.complete(answer);
                    } else {
                      fail(request, mine, error);
                    }
                  });
    } catch (RuntimeException | Error e) {
      fail(request, mine, e);
    }
  }

  private void fail(Request request, CompletableFuture<Consumer<Exchange>> mine, Throwable error) {
    synchronized (kept) {
      kept.remove(request, mine);
    }
    mine.completeExceptionally(error);
  }

  private @Nullable CompletableFuture<Consumer<Exchange>> keep(
      Request request, CompletableFuture<Consumer<Exchange>> mine) {
    synchronized (kept) {
      CompletableFuture<Consumer<Exchange>> before = kept.putIfAbsent(request, mine);
      if (kept.size() > MAX_KEPT) {
        kept.remove(kept.keySet().iterator().next());
      }
      return before;
    }
  }
}
