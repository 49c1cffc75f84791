// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.commit.CallerWait;
import io.timewheel.durable.internal.engine.Engine;
import io.timewheel.durable.internal.health.Counters;
import io.timewheel.durable.internal.queue.ClaimedTimer;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.DuePosition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Submits changes, reads the store and claims timers, for the nouns of a scheduler. */
final class Requests {
  final Engine engine;
  final TimerStore store;
  final Changes changes;
  final LeaseCalls leases;
  private final Executor answers;
  private final CallerWait waiting;

  Requests(Engine engine, TimerStore store, Changes changes, Executor answers, CallerWait waiting) {
    this.engine = engine;
    this.store = store;
    this.changes = changes;
    leases = new LeaseCalls(engine, store);
    this.answers = answers;
    this.waiting = waiting;
  }

  // Changes

  <A, T> CompletableFuture<T> one(A item, Changes.Call<A, T> call) {
    Change change = call.change().apply(item);
    return engine
        .committer
        .submit(change)
        .thenApply(outcome -> call.result().apply(change, outcome));
  }

  /**
   * Submits a change for each item. Completes when all are answered; each succeeds or fails on its
   * own.
   */
  <A, T> CompletableFuture<List<BatchResult<T>>> all(
      Collection<A> items, String name, Function<A, TimerKey> key, Changes.Call<A, T> call) {
    List<A> copy = new ArrayList<>(items);
    copy.forEach(item -> requireNonNull(item, name));
    engine.committer.checkOpen();
    BatchCall<T> batch = new BatchCall<>(engine.committer, copy.size());
    for (int i = 0; i < copy.size(); i++) {
      A item = copy.get(i);
      batch.add(i, key.apply(item), () -> call.change().apply(item), call.result());
    }
    return batch.submit();
  }

  <T> CompletableFuture<List<BatchResult<T>>> all(
      Collection<TimerKey> keys, Changes.Call<TimerKey, T> call) {
    return all(keys, "key", key -> key, call);
  }

  // Reads

  Optional<TimerInfo> get(TimerKey key) {
    return Optional.ofNullable(ask(() -> store.get(key)))
        .map(record -> new TimerInfo(record, engine.clock.nowMillis()));
  }

  TimerList list(TimerFilter filter, @Nullable DuePosition after, int pageSize) {
    TimerOrder order = filter.order();
    TimerPage found =
        ask(
            () ->
                order == TimerOrder.ID
                    ? store.page(filter.query(), after == null ? null : after.key(), pageSize)
                    : store.sorted(filter.query(), order, after, pageSize));
    TimerKey next = found.next();
    DuePosition behind =
        next == null
            ? null
            : order == TimerOrder.ID
                ? new DuePosition(0, next)
                : order.position(found.records().get(found.records().size() - 1));
    long now = engine.clock.nowMillis();
    return new TimerList(
        found.records().stream().map(record -> new TimerInfo(record, now)).toList(),
        TimerList.token(filter, behind));
  }

  List<QueueInfo> queues(@Nullable String namespace, @Nullable TimerKey after, int limit) {
    return ask(() -> QueueInfo.list(store, engine.claims.waiting(), namespace, after, limit));
  }

  QueueInfo queue(TimerKey name) {
    return ask(() -> QueueInfo.of(store, engine.claims.waiting(), name));
  }

  /** Calls the store on the thread of the caller. */
  <T extends @Nullable Object> T ask(Supplier<T> question) {
    engine.committer.checkOpen();
    try {
      return question.get();
    } catch (StoreException e) {
      throw Changes.failed(e);
    }
  }

  // Pauses

  void pause(String scope) {
    var unused =
        ask(
            () -> {
              store.pause(scope);
              return scope;
            });
  }

  void resume(String scope) {
    var unused =
        ask(
            () -> {
              store.resume(scope);
              return scope;
            });
    if (!Scopes.isQueue(scope)) {
      engine.releases.startEverywhere();
    }
    engine.claims.sweep();
  }

  // Claims

  /**
   * Claims timers of a queue. A consumer that completes the stage itself, for example by cancelling
   * it, gets no timers.
   */
  CompletableFuture<List<QueueFiring>> claim(
      String namespace, String queue, int max, Duration lease, Duration wait) {
    var claim = engine.claims.claim(namespace, queue, max, lease, wait);
    CompletableFuture<List<QueueFiring>> answer = new CompletableFuture<>();
    var unused =
        claim.whenCompleteAsync(
            (firings, error) -> {
              if (error != null) {
                answer.completeExceptionally(error);
              } else {
                complete(answer, firings);
              }
            },
            this::executeAnswer);
    var unusedEnd = answer.whenComplete((firings, error) -> claim.cancel(false));
    return answer;
  }

  /** Hands over the timers whose queue was not paused since their claim; gives the others back. */
  private void complete(CompletableFuture<List<QueueFiring>> answer, List<ClaimedTimer> claimed) {
    Map<Boolean, List<ClaimedTimer>> admitted =
        claimed.stream()
            .collect(
                Collectors.partitioningBy(
                    timer ->
                        engine.attempts.pauseGate().admits(timer.queue(), timer.pausesBefore())));
    List<ClaimedTimer> given = requireNonNull(admitted.get(true));
    boolean taken = answer.complete(given.stream().map(QueueFiring::new).toList());
    if (taken) {
      engine.health.counters.fired.add(given.size());
    }
    engine.claims.giveBack(taken ? requireNonNull(admitted.get(false)) : claimed);
  }

  /** Waits for claimed timers. They are given back if the thread of the caller is interrupted. */
  List<QueueFiring> awaitClaim(CompletableFuture<List<QueueFiring>> claim) {
    try {
      return await(claim);
    } finally {
      claim.cancel(false);
    }
  }

  // Answers

  DurableStats stats() {
    Counters counters = engine.health.counters;
    return new DurableStats(
        counters.fired.sum(),
        counters.succeeded.sum(),
        counters.failed.sum(),
        counters.exhausted.sum(),
        counters.blocked.sum(),
        counters.lost.sum(),
        counters.skipped.sum(),
        counters.staleOwner.sum(),
        counters.unknownOutcomes.sum(),
        counters.failedCommits.sum(),
        counters.rejected.sum(),
        counters.clockJumps.sum() + engine.clock.jumpsBack.sum(),
        engine.shards.count(),
        engine.shards.entries(),
        engine.dispatcher.overdue(),
        engine.handlers.waiting(),
        engine.handlers.running(),
        engine.committer.callersWaiting(),
        engine.committer.ownWaiting() + engine.attempts.ends().size(),
        engine.health.isStoreAvailable(),
        new LagHistogram(counters.lag.counts(), counters.lag.maxMillis()));
  }

  <T> T await(CompletableFuture<T> future) {
    return waiting.await(future);
  }

  /**
   * Returns a stage that completes on a thread for answers, because dependent stages must not delay
   * commits. It fails with the failure of the call. Invalid arguments and a closed scheduler throw
   * at once.
   */
  <T> CompletionStage<T> stage(Supplier<CompletableFuture<T>> call) {
    try {
      return call.get().whenCompleteAsync((result, error) -> {}, this::executeAnswer);
    } catch (DurableTimerException e) {
      return CompletableFuture.failedStage(e);
    }
  }

  private void executeAnswer(Runnable answer) {
    try {
      answers.execute(answer);
    } catch (RuntimeException | Error e) {
      answer.run(); // no thread is available: complete here, to lose no answer
    }
  }
}
