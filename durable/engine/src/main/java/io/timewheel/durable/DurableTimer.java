// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.DurableTimerException.Reason;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Timers that survive the process. What a call has acknowledged is safe in the store, and fires at
 * least once from then on, whatever is killed.
 *
 * <pre>{@code
 * DurableTimer timer = DurableTimer.builder(store)
 *     .handler("orders.cancel", firing -> orders.cancel(firing.id()))
 *     .start();
 * timer.schedule(TimerSpec.of("shop", "order-42")
 *     .after(Duration.ofMinutes(30))
 *     .handler("orders.cancel"));
 * ...
 * timer.cancel("shop", "order-42"); // CANCELLED, FIRING, FIRED or NOT_FOUND
 * }</pre>
 *
 * <p>Methods may be called from any thread, handlers included. Those that change something return
 * after the commit; their asynchronous twins complete after it. They throw {@link
 * DurableTimerException} with the reason, {@link IllegalArgumentException} for what no store could
 * do, and {@link IllegalStateException} after {@link #close}.
 */
public final class DurableTimer implements AutoCloseable {
  private static final int MAX_PAGE = 10_000;
  private static final int MAX_BUCKETS = 100_000;
  private static final int MAX_CLAIM = 1_000;

  private final Engine engine;
  private final TimerStore store;
  private final DurableTimerBuilder.Parts parts;

  DurableTimer(Engine engine, TimerStore store, DurableTimerBuilder.Parts parts) {
    this.engine = engine;
    this.store = store;
    this.parts = parts;
  }

  /**
   * Begins to build a timer.
   *
   * @param store where its timers are kept; closed with it
   * @return a builder
   */
  public static DurableTimerBuilder builder(TimerStore store) {
    return new DurableTimerBuilder(store);
  }

  /**
   * Begins to fire, if this timer was built without being started. Idempotent.
   *
   * @throws IllegalStateException if it is closed
   */
  public void start() {
    engine.start();
  }

  // Schedule

  /**
   * Schedules a timer, or replaces the one of the same identity.
   *
   * @param spec what is asked for
   * @return what was done
   */
  public ScheduleResult schedule(TimerSpec spec) {
    return engine.await(scheduling(spec));
  }

  /**
   * Schedules a timer, as {@link #schedule} does.
   *
   * @param spec what is asked for
   * @return completed after the commit
   */
  public CompletionStage<ScheduleResult> scheduleAsync(TimerSpec spec) {
    return stage(scheduling(spec));
  }

  /**
   * Schedules many timers, each by itself; as few commits as there can be.
   *
   * @param specs what is asked for
   * @return what came of each, in the same order
   */
  public List<BatchResult<ScheduleResult>> scheduleAll(Collection<TimerSpec> specs) {
    List<Pending<ScheduleResult>> pending = new ArrayList<>();
    for (TimerSpec spec : specs) {
      pending.add(Pending.of(spec.key(), () -> scheduling(spec)));
    }
    return await(pending);
  }

  private CompletableFuture<ScheduleResult> scheduling(TimerSpec spec) {
    requireNonNull(spec, "spec");
    Change.Schedule change = spec.toChange(engine.nowMillis(), parts.maxPending(), parts.codec());
    return engine.submit(change).thenApply(outcome -> scheduled(change, outcome));
  }

  private ScheduleResult scheduled(Change.Schedule change, Outcome outcome) {
    return switch (outcome.answer()) {
      case CREATED -> new ScheduleResult(ScheduleResult.Outcome.CREATED, outcome.version());
      case REPLACED -> new ScheduleResult(ScheduleResult.Outcome.REPLACED, outcome.version());
      case UNCHANGED -> new ScheduleResult(ScheduleResult.Outcome.UNCHANGED, outcome.version());
      case EXISTS ->
          throw refused(Reason.EXISTS, outcome, change.key() + " exists (expected: absent)");
      case VERSION_DIFFERS ->
          throw refused(
              Reason.VERSION_DIFFERS,
              outcome,
              change.key()
                  + " has version "
                  + outcome.version()
                  + " (expected: "
                  + change.version()
                  + ")");
      case OVER_LIMIT ->
          throw refused(
              Reason.OVER_LIMIT,
              outcome,
              "namespace "
                  + change.key().namespace()
                  + " has as many timers as it may (expected: "
                  + "fewer than "
                  + change.maxPending()
                  + ")");
      default -> throw new AssertionError(outcome);
    };
  }

  private static DurableTimerException refused(Reason reason, Outcome outcome, String message) {
    return new DurableTimerException(reason, outcome.version(), message, null);
  }

  // Cancel

  /**
   * Cancels a timer.
   *
   * @param namespace its namespace
   * @param id its id
   * @return whether it was in time
   */
  public CancelResult cancel(String namespace, String id) {
    return engine.await(cancelling(Limits.key(namespace, id), 0));
  }

  /**
   * Cancels a timer if it has a certain version.
   *
   * @param key its identity
   * @param version the version
   * @return whether it was in time
   */
  public CancelResult cancel(TimerKey key, long version) {
    return engine.await(cancelling(key, version));
  }

  /**
   * Cancels a timer, as {@link #cancel(String, String)} does.
   *
   * @param namespace its namespace
   * @param id its id
   * @return completed after the commit
   */
  public CompletionStage<CancelResult> cancelAsync(String namespace, String id) {
    return stage(cancelling(Limits.key(namespace, id), 0));
  }

  /**
   * Cancels many timers, each by itself.
   *
   * @param keys their identities
   * @return what came of each, in the same order
   */
  public List<BatchResult<CancelResult>> cancelAll(Collection<TimerKey> keys) {
    List<Pending<CancelResult>> pending = new ArrayList<>();
    for (TimerKey key : keys) {
      pending.add(Pending.of(key, () -> cancelling(key, 0)));
    }
    return await(pending);
  }

  private CompletableFuture<CancelResult> cancelling(TimerKey key, long version) {
    return engine
        .submit(new Change.Cancel(key, version, engine.nowMillis()))
        .thenApply(outcome -> cancelled(key, version, outcome));
  }

  private static CancelResult cancelled(TimerKey key, long version, Outcome outcome) {
    CancelResult.Outcome result =
        switch (outcome.answer()) {
          case CANCELLED -> CancelResult.Outcome.CANCELLED;
          case FIRING -> CancelResult.Outcome.FIRING;
          case FIRED -> CancelResult.Outcome.FIRED;
          case NOT_FOUND -> CancelResult.Outcome.NOT_FOUND;
          case VERSION_DIFFERS ->
              throw refused(
                  Reason.VERSION_DIFFERS,
                  outcome,
                  key + " has version " + outcome.version() + " (expected: " + version + ")");
          default -> throw new AssertionError(outcome);
        };
    TimerRecord record = outcome.record();
    return new CancelResult(
        result, outcome.version(), record == null ? List.of() : record.attempts());
  }

  // What a person asks for

  /**
   * Lets no further attempt of a timer begin until it is resumed.
   *
   * @param namespace its namespace
   * @param id its id
   * @return what came of it
   */
  public VerbResult pause(String namespace, String id) {
    return engine.await(verb(Limits.key(namespace, id), Change.Verb.What.PAUSE, 0));
  }

  /**
   * Ends the pause of a timer; if it is overdue it fires.
   *
   * @param namespace its namespace
   * @param id its id
   * @return what came of it
   */
  public VerbResult resume(String namespace, String id) {
    return engine.await(verb(Limits.key(namespace, id), Change.Verb.What.RESUME, 0));
  }

  /**
   * Fires a timer now. A recurring one keeps its schedule.
   *
   * @param namespace its namespace
   * @param id its id
   * @return what came of it
   */
  public VerbResult runNow(String namespace, String id) {
    return engine.await(verb(Limits.key(namespace, id), Change.Verb.What.RUN, 0));
  }

  /**
   * Fires what was set aside or parked, with attempts counted anew.
   *
   * @param namespace its namespace
   * @param id its id
   * @return what came of it
   */
  public VerbResult revive(String namespace, String id) {
    return engine.await(verb(Limits.key(namespace, id), Change.Verb.What.REVIVE, 0));
  }

  /**
   * Does one of these, asynchronously, and if asked for only to a certain version.
   *
   * @param key the timer
   * @param what what to do
   * @param version only if it has this version; 0 for any
   * @return completed after the commit
   */
  public CompletionStage<VerbResult> verbAsync(TimerKey key, Change.Verb.What what, long version) {
    return stage(verb(key, what, version));
  }

  /**
   * Does one of these to many timers, each by itself.
   *
   * @param keys the timers
   * @param what what to do
   * @return what came of each, in the same order
   */
  public List<BatchResult<VerbResult>> verbAll(Collection<TimerKey> keys, Change.Verb.What what) {
    List<Pending<VerbResult>> pending = new ArrayList<>();
    for (TimerKey key : keys) {
      pending.add(Pending.of(key, () -> verb(key, what, 0)));
    }
    return await(pending);
  }

  /**
   * Moves the present or next run of a timer to another time; a new version.
   *
   * @param key the timer
   * @param at the time
   * @param version only if it has this version; 0 for any
   * @return what came of it
   */
  public VerbResult move(TimerKey key, Instant at, long version) {
    long dueMillis = EpochMillis.ceil(at);
    if (dueMillis == EpochMillis.NEVER) {
      throw new IllegalArgumentException("at: " + at + " (expected: an earlier time)");
    }
    return engine.await(
        engine
            .submit(new Change.Move(key, version, dueMillis, engine.nowMillis()))
            .thenApply(DurableTimer::verbResult));
  }

  private CompletableFuture<VerbResult> verb(TimerKey key, Change.Verb.What what, long version) {
    return engine
        .submit(new Change.Verb(key, what, version, engine.nowMillis()))
        .thenApply(DurableTimer::verbResult);
  }

  private static VerbResult verbResult(Outcome outcome) {
    return switch (outcome.answer()) {
      case APPLIED -> VerbResult.DONE;
      case UNCHANGED -> VerbResult.UNCHANGED;
      case WRONG_STATE -> VerbResult.WRONG_STATE;
      case VERSION_DIFFERS -> VerbResult.VERSION_DIFFERS;
      case NOT_FOUND -> VerbResult.NOT_FOUND;
      default -> throw new AssertionError(outcome);
    };
  }

  // Pauses of namespaces

  /**
   * Lets no attempt begin in a namespace until it is resumed.
   *
   * @param namespace the namespace
   */
  public void pause(String namespace) {
    store.pause(Limits.name("namespace", namespace));
  }

  /**
   * Ends the pause of a namespace; what is overdue fires.
   *
   * @param namespace the namespace
   */
  public void resume(String namespace) {
    store.resume(Limits.name("namespace", namespace));
    engine.executeStoreWork(engine::upkeep);
  }

  /** Lets no attempt begin anywhere until {@link #resumeAll}. */
  public void pauseAll() {
    store.pause(TimerStore.EVERYTHING);
  }

  /** Ends {@link #pauseAll}; namespaces that were paused by themselves stay so. */
  public void resumeAll() {
    store.resume(TimerStore.EVERYTHING);
    engine.executeStoreWork(engine::upkeep);
  }

  /** {@return the namespaces that are paused; an empty text among them means all are} */
  public Set<String> paused() {
    return store.paused();
  }

  // Looking

  /**
   * Looks a timer up, also one that is finished and remembered.
   *
   * @param namespace its namespace
   * @param id its id
   * @return the timer; empty if there is none
   */
  public Optional<TimerInfo> get(String namespace, String id) {
    return Optional.ofNullable(store.get(Limits.key(namespace, id))).map(TimerInfo::new);
  }

  /**
   * Lists timers in the order of namespace and id. What is added or removed meanwhile may be
   * missing or not; nothing else is, and nothing comes twice.
   *
   * @param filter which
   * @param pageSize how many at most, 1 to 10,000
   * @param page where to go on, or null for the beginning
   * @return a page
   */
  public TimerList list(TimerFilter filter, int pageSize, @Nullable String page) {
    check("pageSize", pageSize, MAX_PAGE);
    TimerKey after = page == null ? null : TimerList.parse(page);
    TimerPage found = store.page(filter.query(), after, pageSize);
    return new TimerList(
        found.records().stream().map(TimerInfo::new).toList(), TimerList.token(found.next()));
  }

  /**
   * Counts what fires when: timers that wait for their time or for their next attempt.
   *
   * @param namespace of which namespace; null for all
   * @param from the beginning
   * @param to the end, not part of it
   * @param buckets in how many spans of equal length, 1 to 100,000
   * @return the exact count of each span
   */
  public long[] histogram(@Nullable String namespace, Instant from, Instant to, int buckets) {
    check("buckets", buckets, MAX_BUCKETS);
    long fromMillis = EpochMillis.ceil(from);
    long toMillis = EpochMillis.ceil(to);
    if (toMillis - fromMillis < buckets || fromMillis >= toMillis) {
      throw new IllegalArgumentException(
          "to: " + to + " (expected: at least " + buckets + " ms after " + from + ")");
    }
    long[] bounds = new long[buckets + 1];
    for (int i = 0; i <= buckets; i++) {
      long span = toMillis - fromMillis;
      bounds[i] = fromMillis + span / buckets * i + span % buckets * i / buckets;
    }
    return store.histogram(namespace, bounds);
  }

  /**
   * When a timer would run if it were scheduled now.
   *
   * @param spec what would be asked for
   * @param count how many runs at most
   * @return their times
   */
  public List<Instant> preview(TimerSpec spec, int count) {
    Change.Schedule change = spec.toChange(engine.nowMillis(), parts.maxPending(), parts.codec());
    check("count", count, MAX_CLAIM);
    Instant first = Instant.ofEpochMilli(change.dueAt());
    List<Instant> runs = new ArrayList<>(List.of(first));
    runs.addAll(TimerSpec.recurrence(change.definition().recurrence()).preview(first, count - 1));
    return List.copyOf(runs);
  }

  /** {@return how many timers each namespace has in each state; what is missing is zero} */
  public Map<String, Map<TimerState, Long>> counts() {
    return store.counts();
  }

  /** {@return what this timer has done since it was started} */
  public DurableStats stats() {
    Counters counters = engine.counters;
    return new DurableStats(
        counters.fired.sum(),
        counters.succeeded.sum(),
        counters.failed.sum(),
        counters.setAside.sum(),
        counters.parked.sum(),
        counters.lost.sum(),
        counters.skipped.sum(),
        counters.staleOwner.sum(),
        counters.unknownOutcomes.sum(),
        engine.windowSize(),
        counters.maxLagMillis.get());
  }

  // Queues

  /**
   * Claims what is due for a queue, and waits for it if there is nothing.
   *
   * @param namespace the namespace of the queue
   * @param queue its name
   * @param max how many firings at most, 1 to 1,000
   * @param lease how long they are one's own: a second to twelve hours
   * @param wait how long to wait for the first one: zero to a minute
   * @return completed with what was claimed; with nothing if there was nothing
   */
  public CompletionStage<List<QueueFiring>> claim(
      String namespace, String queue, int max, Duration lease, Duration wait) {
    Limits.name("namespace", namespace);
    Limits.name("queue", queue);
    check("max", max, MAX_CLAIM);
    checkLease(lease);
    checkBetween("wait", wait, Duration.ZERO, Duration.ofMinutes(1));
    return stage(engine.queues().claim(namespace, queue, max, lease, wait));
  }

  /**
   * Ends a lease well.
   *
   * @param fireId what was claimed
   * @param lease the lease
   * @return completed after the commit
   */
  public CompletionStage<LeaseResult> ack(FireId fireId, String lease) {
    return stage(end(fireId, QueueFiring.parse(lease), null, null));
  }

  /**
   * Ends a lease badly: the attempt failed.
   *
   * @param fireId what was claimed
   * @param lease the lease
   * @param error why
   * @param after when to try again; by the timer's retry policy if null
   * @return completed after the commit
   */
  public CompletionStage<LeaseResult> nack(
      FireId fireId, String lease, String error, @Nullable Duration after) {
    requireNonNull(error, "error");
    return stage(end(fireId, QueueFiring.parse(lease), error, after));
  }

  /**
   * Extends a lease.
   *
   * @param fireId what was claimed
   * @param lease the lease
   * @param by how long it lasts from now on: a second to twelve hours
   * @return completed after the commit
   */
  public CompletionStage<LeaseResult> extend(FireId fireId, String lease, Duration by) {
    checkLease(by);
    ClaimToken token = QueueFiring.parse(lease);
    long now = engine.nowMillis();
    return stage(
        engine
            .submit(
                new Change.Extend(
                    fireId.key(), token, EpochMillis.saturatedAdd(now, EpochMillis.ceil(by)), now))
            .thenApply(DurableTimer::leaseResult));
  }

  private CompletableFuture<LeaseResult> end(
      FireId fireId, ClaimToken token, @Nullable String error, @Nullable Duration after) {
    TimerRecord record = store.get(fireId.key());
    if (record == null) {
      return CompletableFuture.completedFuture(LeaseResult.NOT_FOUND);
    }
    Change.Finish end = engine.queues().end(record, token, error, after);
    if (end == null && error == null) {
      // Not open: the answer is that of the former end, if it was this one.
      end = engine.queues().success(fireId.key(), token, TimerRecord.NEVER);
    }
    return end == null
        ? CompletableFuture.completedFuture(LeaseResult.LOST)
        : engine.submit(end).thenApply(DurableTimer::leaseResult);
  }

  private static LeaseResult leaseResult(Outcome outcome) {
    return switch (outcome.answer()) {
      case APPLIED -> LeaseResult.DONE;
      case NOT_FOUND -> LeaseResult.NOT_FOUND;
      default -> LeaseResult.LOST;
    };
  }

  // The end

  /** Closes this timer with a patience of ten seconds. */
  @Override
  public void close() {
    close(Duration.ofSeconds(10));
  }

  /**
   * Lets nothing begin any more, waits for what runs, records how it ended, and closes the store.
   * Handlers that have not ended within the patience are interrupted, and count as lost: their
   * timers fire again after the next start. What was claimed and has not begun is given back.
   * Idempotent.
   *
   * @param patience how long to wait
   */
  public void close(Duration patience) {
    requireNonNull(patience, "patience");
    parts.close(engine, patience);
  }

  // Helpers

  /** Completes on the handlers' executor: what hangs on it must not hold up commits. */
  private <T> CompletionStage<T> stage(CompletableFuture<T> future) {
    return future.whenCompleteAsync((result, error) -> {}, parts.handlerExecutor());
  }

  private <T> List<BatchResult<T>> await(List<Pending<T>> pending) {
    List<BatchResult<T>> results = new ArrayList<>();
    for (Pending<T> item : pending) {
      results.add(item.await(engine));
    }
    return results;
  }

  /** An item of a batch that was submitted, or refused. */
  private record Pending<T>(
      TimerKey key, @Nullable CompletableFuture<T> future, @Nullable RuntimeException error) {

    private interface Call<T> {
      CompletableFuture<T> submit();
    }

    static <T> Pending<T> of(TimerKey key, Call<T> call) {
      try {
        return new Pending<>(key, call.submit(), null);
      } catch (DurableTimerException | IllegalArgumentException e) {
        return new Pending<>(key, null, e);
      }
    }

    BatchResult<T> await(Engine engine) {
      if (future == null) {
        return new BatchResult<>(key, null, error);
      }
      try {
        return new BatchResult<>(key, engine.await(future), null);
      } catch (DurableTimerException e) {
        return new BatchResult<>(key, null, e);
      }
    }
  }

  private static void check(String name, int value, int max) {
    if (value < 1 || value > max) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: 1 to " + max + ")");
    }
  }

  private static void checkLease(Duration lease) {
    checkBetween("lease", lease, Duration.ofSeconds(1), Duration.ofHours(12));
  }

  private static void checkBetween(String name, Duration value, Duration min, Duration max) {
    requireNonNull(value, name);
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + min + " to " + max + ")");
    }
  }
}
