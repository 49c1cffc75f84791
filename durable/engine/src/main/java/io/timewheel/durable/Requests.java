// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.internal.commit.Committer;
import io.timewheel.durable.internal.commit.Waiting;
import io.timewheel.durable.internal.engine.Engine;
import io.timewheel.durable.internal.health.Counters;
import io.timewheel.durable.internal.queue.ClaimedTimer;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Converts calls into changes, and answers of the store into results. */
final class Requests {
  private final Engine engine;
  private final AttemptContext attempts;
  private final TimerStore store;
  private final Executor answers;
  private final PayloadCodec codec;
  private final long maxPending;
  private final HandlerCheck handlers;
  private final Waiting waiting;
  private final LeaseCalls leases;

  Requests(
      Engine engine,
      TimerStore store,
      Executor answers,
      PayloadCodec codec,
      long maxPending,
      HandlerCheck handlers,
      Waiting waiting) {
    this.engine = engine;
    attempts = engine.attempts;
    this.store = store;
    this.answers = answers;
    this.codec = codec;
    this.maxPending = maxPending;
    this.handlers = handlers;
    this.waiting = waiting;
    leases = new LeaseCalls(engine, store);
  }

  // Changes

  Change.Schedule change(TimerSpec spec) {
    return requireNonNull(spec, "spec")
        .toChange(engine.clock.nowMillis(), attempts.policy().minGraceMillis(), maxPending, codec);
  }

  private Change.Schedule checked(TimerSpec spec) {
    Change.Schedule change = change(spec);
    handlers.check(change.key(), change.definition());
    return change;
  }

  CompletableFuture<ScheduleResult> schedule(TimerSpec spec) {
    Change.Schedule change = checked(spec);
    return engine.committer.submit(change).thenApply(outcome -> scheduled(change, outcome));
  }

  private static ScheduleResult scheduled(Change.Schedule change, Outcome outcome) {
    return switch (outcome.answer()) {
      case CREATED -> result(ScheduleResult.Outcome.CREATED, change, outcome);
      case REPLACED -> result(ScheduleResult.Outcome.REPLACED, change, outcome);
      case UNCHANGED -> result(ScheduleResult.Outcome.UNCHANGED, change, outcome);
      case EXISTS ->
          throw refused(Reason.EXISTS, outcome, change.key() + " exists (expected: absent)");
      case VERSION_DIFFERS -> throw versionDiffers(change.key(), change.version(), outcome);
      case COMPLETED, CANCELLED ->
          throw refused(
              Reason.FINISHED,
              outcome,
              change.key()
                  + (outcome.answer() == Outcome.Answer.COMPLETED ? " has fired" : " was cancelled")
                  + " (expected: version "
                  + change.version()
                  + ", unfinished)");
      case OVER_LIMIT ->
          throw refused(
              Reason.OVER_LIMIT,
              outcome,
              "namespace "
                  + change.key().namespace()
                  + " has too many pending timers (expected: fewer than "
                  + change.maxPending()
                  + ")");
      case REQUEST_DIFFERS -> throw requestDiffers(change, outcome);
      default -> throw new AssertionError(outcome);
    };
  }

  private static ScheduleResult result(
      ScheduleResult.Outcome effect, Change.Schedule change, Outcome outcome) {
    TimerRecord record = TimerRecord.scheduled(change, outcome.version(), null);
    return new ScheduleResult(effect, new TimerInfo(record, TimerRecord.NONE));
  }

  CompletableFuture<CancelResult> cancel(TimerKey key, long version, @Nullable RequestId request) {
    Change.Cancel change = cancelling(key, version, request);
    return engine.committer.submit(change).thenApply(outcome -> cancelled(change, outcome));
  }

  private Change.Cancel cancelling(TimerKey key, long version, @Nullable RequestId request) {
    Limits.key(key);
    Limits.version(version);
    return new Change.Cancel(key, version, request, engine.clock.nowMillis());
  }

  private static CancelResult cancelled(Change.Cancel change, Outcome outcome) {
    CancelResult.Outcome result =
        switch (outcome.answer()) {
          case CANCELLED -> CancelResult.Outcome.CANCELLED;
          case RUNNING -> CancelResult.Outcome.RUNNING;
          case COMPLETED -> CancelResult.Outcome.COMPLETED;
          case NOT_FOUND -> CancelResult.Outcome.NOT_FOUND;
          case VERSION_DIFFERS -> throw versionDiffers(change.key(), change.version(), outcome);
          case REQUEST_DIFFERS -> throw requestDiffers(change, outcome);
          default -> throw new AssertionError(outcome);
        };
    TimerRecord record = outcome.record();
    return new CancelResult(
        result, outcome.version(), record == null ? List.of() : record.attempts());
  }

  CompletableFuture<VerbResult> verb(
      TimerKey key, Verb verb, long version, @Nullable RequestId request) {
    Change change = verbChange(key, verb, version, request);
    return engine.committer.submit(change).thenApply(outcome -> verbResult(change, outcome));
  }

  private Change.Verb verbChange(
      TimerKey key, Verb verb, long version, @Nullable RequestId request) {
    Limits.key(key);
    Limits.version(version);
    return new Change.Verb(
        key, requireNonNull(verb, "verb").command(), version, request, engine.clock.nowMillis());
  }

  CompletableFuture<VerbResult> move(
      TimerKey key, Instant at, long version, @Nullable RequestId request) {
    Change change = moving(key, at, version, request);
    return engine.committer.submit(change).thenApply(outcome -> verbResult(change, outcome));
  }

  private Change.Move moving(TimerKey key, Instant at, long version, @Nullable RequestId request) {
    Limits.key(key);
    Limits.version(version);
    long dueMillis = EpochMillis.ceil(requireNonNull(at, "at"));
    if (dueMillis == EpochMillis.NEVER) {
      throw new InvalidArgumentException("at: " + at + " (expected: an earlier time)");
    }
    return new Change.Move(key, version, dueMillis, request, engine.clock.nowMillis());
  }

  private static VerbResult verbResult(Change change, Outcome outcome) {
    return switch (outcome.answer()) {
      case APPLIED -> VerbResult.DONE;
      case UNCHANGED -> VerbResult.UNCHANGED;
      case WRONG_STATE -> VerbResult.WRONG_STATE;
      case VERSION_DIFFERS -> VerbResult.VERSION_DIFFERS;
      case NOT_FOUND -> VerbResult.NOT_FOUND;
      case REQUEST_DIFFERS -> throw requestDiffers(change, outcome);
      default -> throw new AssertionError(outcome);
    };
  }

  /** Stores the answer to a request, unless it has one. Returns the stored answer. */
  CompletableFuture<OptionalLong> keep(TimerKey key, RequestId request, OptionalLong answer) {
    Limits.key(key);
    Change.Keep change =
        new Change.Keep(key, request, answer.orElse(TimerRecord.NONE), engine.clock.nowMillis());
    return engine
        .committer
        .submit(change)
        .thenApply(
            outcome ->
                switch (outcome.answer()) {
                  case APPLIED -> OptionalLong.of(outcome.version());
                  case NOT_FOUND -> OptionalLong.empty();
                  case REQUEST_DIFFERS -> throw requestDiffers(change, outcome);
                  default -> throw new AssertionError(outcome);
                });
  }

  static DurableTimerException requestDiffers(Change change, Outcome outcome) {
    return refused(
        Reason.REQUEST_DIFFERS,
        outcome,
        change.key() + ": the request ID belongs to an earlier request with different content");
  }

  private static DurableTimerException versionDiffers(TimerKey key, long version, Outcome outcome) {
    return refused(
        Reason.VERSION_DIFFERS,
        outcome,
        outcome.version() == 0
            ? key + " is absent"
            : key + " has version " + outcome.version() + " (expected: " + version + ")");
  }

  private static DurableTimerException refused(Reason reason, Outcome outcome, String message) {
    return new DurableTimerException(reason, outcome.version(), message, null);
  }

  // Previews and counts

  long[] histogram(@Nullable String namespace, Instant from, Instant to, int buckets) {
    long fromMillis = EpochMillis.ceil(from);
    long toMillis = EpochMillis.ceil(to);
    long span = EpochMillis.saturatedSubtract(toMillis, fromMillis);
    if (span < buckets) {
      throw new InvalidArgumentException(
          "to: " + to + " (expected: at least " + buckets + " ms after " + from + ")");
    }
    long[] bounds = new long[buckets + 1];
    for (int i = 0; i < buckets; i++) {
      bounds[i] = fromMillis + span / buckets * i + span % buckets * i / buckets;
    }
    bounds[buckets] = toMillis;
    return ask(() -> store.histogram(namespace, bounds));
  }

  long[] histogram(@Nullable String namespace, List<Instant> bounds) {
    long[] millis = bounds.stream().mapToLong(EpochMillis::ceil).toArray();
    for (int i = 1; i < millis.length; i++) {
      if (millis[i] <= millis[i - 1]) {
        throw new InvalidArgumentException(
            "bounds: %s after %s (expected: ascending by a millisecond at least)"
                .formatted(bounds.get(i), bounds.get(i - 1)));
      }
    }
    return ask(() -> store.histogram(namespace, millis));
  }

  List<Instant> preview(TimerSpec spec, int count) {
    return new TimerInfo(TimerRecord.scheduled(change(spec), 0, null), TimerRecord.NONE)
        .runs(count);
  }

  // Leases

  CompletableFuture<LeaseResult> lease(LeaseChange change) {
    return leases.change(change);
  }

  CompletableFuture<List<BatchResult<LeaseResult>>> leaseAll(Collection<LeaseChange> changes) {
    return leases.changeAll(changes);
  }

  /**
   * Claims timers of a queue. A consumer that completes the stage itself, for example by cancelling
   * it, gets no timers.
   */
  CompletionStage<List<QueueFiring>> claim(
      String namespace, String queue, int max, Duration lease, Duration wait) {
    var waiting = engine.consumers.claim(namespace, queue, max, lease, wait);
    CompletableFuture<List<QueueFiring>> answer = new CompletableFuture<>();
    var unused =
        waiting.whenCompleteAsync(
            (firings, error) -> {
              if (error != null) {
                answer.completeExceptionally(error);
              } else {
                engine.consumers.giveBack(
                    engine.handOver.give(firings, admitted -> complete(answer, admitted)));
              }
            },
            this::executeAnswer);
    var unusedEnd = answer.whenComplete((firings, error) -> waiting.cancel(false));
    return answer;
  }

  private boolean complete(
      CompletableFuture<List<QueueFiring>> answer, List<ClaimedTimer> admitted) {
    boolean taken = answer.complete(admitted.stream().map(QueueFiring::new).toList());
    if (taken) {
      engine.health.counters.fired.add(admitted.size());
    }
    return taken;
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
    return ask(() -> QueueInfo.list(store, engine.consumers.waiting(), namespace, after, limit));
  }

  long pauseQueue(String namespace, String queue) {
    int unused = pause(Scopes.queue(namespace, queue));
    return claimed(namespace, queue);
  }

  long claimed(String namespace, @Nullable String queue) {
    return ask(() -> store.queueCounts(namespace)).entrySet().stream()
        .filter(counts -> queue == null || queue.equals(counts.getKey().id()))
        .mapToLong(counts -> counts.getValue().getOrDefault(TimerState.RUNNING, 0L))
        .sum();
  }

  // Many at a time

  CompletableFuture<List<BatchResult<ScheduleResult>>> scheduleAll(Collection<TimerSpec> specs) {
    return all(specs, "spec", TimerSpec::key, this::checked, Requests::scheduled);
  }

  CompletableFuture<List<BatchResult<CancelResult>>> cancelAll(
      Collection<TimerKey> keys, @Nullable RequestId request) {
    return all(keys, "key", key -> key, key -> cancelling(key, 0, request), Requests::cancelled);
  }

  CompletableFuture<List<BatchResult<VerbResult>>> verbAll(
      Collection<TimerKey> keys, Verb verb, @Nullable RequestId request) {
    return all(
        keys, "key", key -> key, key -> verbChange(key, verb, 0, request), Requests::verbResult);
  }

  CompletableFuture<List<BatchResult<VerbResult>>> moveAll(Collection<TimerKey> keys, Instant at) {
    return all(keys, "key", key -> key, key -> moving(key, at, 0, null), Requests::verbResult);
  }

  /**
   * Submits a change for each item. Completes when all are answered; each succeeds or fails on its
   * own.
   */
  private <A, C extends Change, T> CompletableFuture<List<BatchResult<T>>> all(
      Collection<A> items,
      String name,
      Function<A, TimerKey> key,
      Function<A, C> change,
      BiFunction<C, Outcome, T> result) {
    List<A> copy = new ArrayList<>(items);
    copy.forEach(item -> requireNonNull(item, name));
    engine.committer.checkOpen();
    BatchCall<T> call = new BatchCall<>(engine.committer, copy.size());
    for (int i = 0; i < copy.size(); i++) {
      A item = copy.get(i);
      call.add(i, key.apply(item), () -> change.apply(item), result);
    }
    return call.submit();
  }

  // Answers

  /** Calls the store on the thread of the caller. */
  <T extends @Nullable Object> T ask(Supplier<T> question) {
    engine.committer.checkOpen();
    try {
      return question.get();
    } catch (StoreException e) {
      throw failed(e);
    }
  }

  /** Gives a permit back, also during the close. */
  void release(String limit, String holder) {
    try {
      store.release(limit, holder);
    } catch (StoreException e) {
      throw failed(e);
    }
  }

  static DurableTimerException failed(StoreException e) {
    return new DurableTimerException(e.reason(), 0, String.valueOf(e.getMessage()), e);
  }

  int pause(String scope) {
    return ask(() -> store.pause(scope));
  }

  @Nullable Void resume(String scope) {
    ask(
        () -> {
          store.resume(scope);
          return scope;
        });
    if (!Scopes.isQueue(scope)) {
      engine.releases.startEverywhere();
    }
    engine.consumers.sweep();
    return null;
  }

  /** Calls the store on a thread for store work. */
  <T extends @Nullable Object> CompletionStage<T> later(Supplier<T> work) {
    engine.committer.checkOpen();
    CompletableFuture<T> done = new CompletableFuture<>();
    boolean accepted =
        engine.tasks.maintain( // may wait for all nodes to confirm it
            () -> {
              try {
                done.complete(work.get());
              } catch (RuntimeException | Error e) {
                done.completeExceptionally(e);
              }
            },
            () -> done.completeExceptionally(Committer.closed()));
    if (!accepted) {
      done.completeExceptionally(Committer.closed());
    }
    return stage(done);
  }

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
        engine.committer.ownWaiting() + attempts.ends().size(),
        engine.health.isStoreAvailable(),
        new LagHistogram(counters.lag.counts(), counters.lag.maxMillis()));
  }

  <T> T await(CompletableFuture<T> future) {
    return waiting.await(future);
  }

  /**
   * Returns a stage that fails with the failure of a call. Invalid arguments and a closed scheduler
   * throw at once.
   */
  <T> CompletionStage<T> stage(Supplier<CompletableFuture<T>> call) {
    try {
      return stage(call.get());
    } catch (DurableTimerException e) {
      return CompletableFuture.failedStage(e);
    }
  }

  /**
   * Returns a stage that completes on a thread for answers, because dependent stages must not delay
   * commits.
   */
  <T> CompletionStage<T> stage(CompletableFuture<T> future) {
    return future.whenCompleteAsync((result, error) -> {}, this::executeAnswer);
  }

  private void executeAnswer(Runnable answer) {
    try {
      answers.execute(answer);
    } catch (RuntimeException | Error e) {
      answer.run(); // no thread is available: complete here, to lose no answer
    }
  }
}
