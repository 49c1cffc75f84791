// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.engine.Closing;
import io.timewheel.durable.internal.engine.Engine;
import io.timewheel.durable.model.FireId;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Schedules timers that survive the process. Once a call returns, its timer is in the store and
 * fires at least once, even after a process crash or the loss of a node.
 *
 * <pre>{@code
 * DurableTimer timer = DurableTimer.builder(store)
 *     .handler("orders.cancel", firing -> orders.cancel(firing.id()))
 *     .start();
 * timer.schedule(TimerSpec.of("shop", "order-42")
 *     .after(Duration.ofMinutes(30))
 *     .handler("orders.cancel"));
 * ...
 * timer.cancel("shop", "order-42"); // CANCELLED, RUNNING, COMPLETED or NOT_FOUND
 * }</pre>
 *
 * <p>All methods are thread-safe, and handlers may call them. Methods that change timers block
 * until the commit. Each has an {@code Async} variant, whose stage completes after the commit.
 * Failed operations throw {@link io.timewheel.durable.model.DurableTimerException} with the reason,
 * and returned stages fail with it. Invalid arguments throw {@link IllegalArgumentException}, and
 * calls after {@link #close} throw {@link IllegalStateException}; both are thrown at once, also by
 * {@code Async} variants. If the write queue is full, a call blocks, even an {@code Async} one,
 * unless the scheduler was built to {@linkplain DurableTimerBuilder#queueCapacity refuse} it.
 *
 * <p>An interrupted call stops waiting, and the thread keeps its interrupt status. If the call was
 * waiting for room in the queue, it fails with {@link
 * io.timewheel.durable.model.DurableTimerException.Reason#BUSY} and nothing was changed. If it was
 * waiting for the store's answer, it fails with {@link
 * io.timewheel.durable.model.DurableTimerException.Reason#UNKNOWN}. The change may or may not be
 * committed.
 */
public final class DurableTimer implements AutoCloseable {
  static final Duration MIN_LEASE = Duration.ofSeconds(1);
  static final Duration MAX_LEASE = Duration.ofHours(12);
  private static final int MAX_PAGE = 10_000;
  private static final int MAX_BUCKETS = 100_000;
  private static final int MAX_CLAIM = 1_000;
  private static final int MAX_PREVIEW = 1_000;

  private final Engine engine;
  private final TimerStore store;
  private final Requests requests;
  private final Closing closing;

  DurableTimer(Engine engine, TimerStore store, Requests requests, Closing closing) {
    this.engine = engine;
    this.store = store;
    this.requests = requests;
    this.closing = closing;
  }

  /**
   * Returns a builder for a scheduler that fires timers.
   *
   * @param store the store of the timers; the scheduler closes it
   * @return a builder
   */
  public static DurableTimerBuilder builder(TimerStore store) {
    return new DurableTimerBuilder(store, false);
  }

  /**
   * Returns a builder for a client: a scheduler that owns no shards and runs no handlers. It
   * schedules, cancels, lists and retries timers, and serves consumers of queues. Other nodes of
   * the same store fire the timers. It purges no history.
   *
   * @param store the store of the timers; the scheduler closes it
   * @return a builder, which refuses handlers
   * @throws IllegalArgumentException if the store has one owner and cannot be shared
   */
  public static DurableTimerBuilder client(TimerStore store) {
    return new DurableTimerBuilder(store, true);
  }

  /**
   * Begins to fire timers, if this scheduler was built without being started. Idempotent.
   *
   * @throws IllegalArgumentException if the executor of handlers runs tasks on the calling thread
   * @throws IllegalStateException if it is closed
   */
  public void start() {
    engine.start();
  }

  // Schedule

  /**
   * Schedules a timer, or replaces the timer with the same key.
   *
   * @param spec the timer
   * @return the outcome
   */
  public ScheduleResult schedule(TimerSpec spec) {
    return requests.await(requests.schedule(spec));
  }

  /**
   * Schedules a timer, as {@link #schedule} does.
   *
   * @param spec the timer
   * @return a stage that completes after the commit
   */
  public CompletionStage<ScheduleResult> scheduleAsync(TimerSpec spec) {
    return requests.stage(() -> requests.schedule(spec));
  }

  /**
   * Schedules many timers in as few commits as possible. Each timer succeeds or fails on its own.
   *
   * @param specs the timers
   * @return the result of each, in the same order
   */
  public List<BatchResult<ScheduleResult>> scheduleAll(Collection<TimerSpec> specs) {
    return requests.await(requests.scheduleAll(specs));
  }

  /**
   * Schedules many timers, as {@link #scheduleAll} does.
   *
   * @param specs the timers
   * @return a stage that completes when all are answered
   */
  public CompletionStage<List<BatchResult<ScheduleResult>>> scheduleAllAsync(
      Collection<TimerSpec> specs) {
    return requests.stage(() -> requests.scheduleAll(specs));
  }

  // Cancel

  /**
   * Cancels a timer.
   *
   * @param namespace its namespace
   * @param id its id
   * @return the result: whether the cancel was in time
   */
  public CancelResult cancel(String namespace, String id) {
    return cancel(Limits.key(namespace, id), 0);
  }

  /**
   * Cancels a timer if it has a certain version.
   *
   * @param key its key
   * @param version the version; 0 for any
   * @return the result: whether the cancel was in time
   */
  public CancelResult cancel(TimerKey key, long version) {
    return requests.await(requests.cancel(key, version, null));
  }

  /**
   * Cancels a timer, as {@link #cancel(String, String)} does.
   *
   * @param namespace its namespace
   * @param id its id
   * @return a stage that completes after the commit
   */
  public CompletionStage<CancelResult> cancelAsync(String namespace, String id) {
    return cancelAsync(Limits.key(namespace, id), 0);
  }

  /**
   * Cancels a timer, as {@link #cancel(TimerKey, long)} does.
   *
   * @param key its key
   * @param version the version; 0 for any
   * @return a stage that completes after the commit
   */
  public CompletionStage<CancelResult> cancelAsync(TimerKey key, long version) {
    return requests.stage(() -> requests.cancel(key, version, null));
  }

  /**
   * Cancels a timer. A repeated request changes nothing.
   *
   * @param key its key
   * @param version the version; 0 for any
   * @param request the request ID, by which a repetition is recognised; null if a repetition takes
   *     effect again
   * @return a stage that completes after the commit
   */
  public CompletionStage<CancelResult> cancelAsync(
      TimerKey key, long version, @Nullable RequestId request) {
    return requests.stage(() -> requests.cancel(key, version, request));
  }

  /**
   * Cancels many timers. Each cancel succeeds or fails on its own.
   *
   * @param keys their keys
   * @return the result of each, in the same order
   */
  public List<BatchResult<CancelResult>> cancelAll(Collection<TimerKey> keys) {
    return requests.await(requests.cancelAll(keys, null));
  }

  /**
   * Cancels many timers, as {@link #cancelAll} does.
   *
   * @param keys their keys
   * @return a stage that completes when all are answered
   */
  public CompletionStage<List<BatchResult<CancelResult>>> cancelAllAsync(
      Collection<TimerKey> keys) {
    return requests.stage(() -> requests.cancelAll(keys, null));
  }

  /**
   * Cancels many timers. A repeated request changes nothing.
   *
   * @param keys their keys
   * @param request the request ID, by which a repetition is recognised; null if a repetition takes
   *     effect again
   * @return a stage that completes when all are answered
   */
  public CompletionStage<List<BatchResult<CancelResult>>> cancelAllAsync(
      Collection<TimerKey> keys, @Nullable RequestId request) {
    return requests.stage(() -> requests.cancelAll(keys, request));
  }

  // Commands of operators

  /**
   * Pauses a timer. No attempt starts until it is resumed, except an attempt that a node has
   * already claimed.
   *
   * <p>This method does not wait for other nodes. A node claims an attempt shortly before its time,
   * and the timer is {@link io.timewheel.durable.model.TimerState#RUNNING RUNNING} from then on. If
   * this node has claimed the attempt and not started it, it gives the attempt back. If another
   * node has claimed it, the attempt starts or continues there. If it fails, no retry starts. To
   * wait for all nodes, {@linkplain #pause(String) pause the namespace}.
   *
   * @param namespace its namespace
   * @param id its id
   * @return the result
   */
  public VerbResult pause(String namespace, String id) {
    return requests.await(requests.verb(Limits.key(namespace, id), Verb.PAUSE, 0, null));
  }

  /**
   * Pauses a timer, as {@link #pause(String, String)} does.
   *
   * @param namespace its namespace
   * @param id its id
   * @return a stage that completes after the commit
   */
  public CompletionStage<VerbResult> pauseAsync(String namespace, String id) {
    return verbAsync(Limits.key(namespace, id), Verb.PAUSE, 0);
  }

  /**
   * Ends the pause of a timer. An overdue timer fires.
   *
   * @param namespace its namespace
   * @param id its id
   * @return the result
   */
  public VerbResult resume(String namespace, String id) {
    return requests.await(requests.verb(Limits.key(namespace, id), Verb.RESUME, 0, null));
  }

  /**
   * Resumes a timer, as {@link #resume(String, String)} does.
   *
   * @param namespace its namespace
   * @param id its id
   * @return a stage that completes after the commit
   */
  public CompletionStage<VerbResult> resumeAsync(String namespace, String id) {
    return verbAsync(Limits.key(namespace, id), Verb.RESUME, 0);
  }

  /**
   * Fires a timer now. A recurring one keeps its schedule.
   *
   * @param namespace its namespace
   * @param id its id
   * @return the result
   */
  public VerbResult runNow(String namespace, String id) {
    return requests.await(requests.verb(Limits.key(namespace, id), Verb.RUN, 0, null));
  }

  /**
   * Fires a timer now, as {@link #runNow} does.
   *
   * @param namespace its namespace
   * @param id its id
   * @return a stage that completes after the commit
   */
  public CompletionStage<VerbResult> runNowAsync(String namespace, String id) {
    return verbAsync(Limits.key(namespace, id), Verb.RUN, 0);
  }

  /**
   * Fires a failed or blocked timer. Its attempts are counted from 1 again.
   *
   * @param namespace its namespace
   * @param id its id
   * @return the result
   */
  public VerbResult retry(String namespace, String id) {
    return requests.await(requests.verb(Limits.key(namespace, id), Verb.RETRY, 0, null));
  }

  /**
   * Retries a timer, as {@link #retry} does.
   *
   * @param namespace its namespace
   * @param id its id
   * @return a stage that completes after the commit
   */
  public CompletionStage<VerbResult> retryAsync(String namespace, String id) {
    return verbAsync(Limits.key(namespace, id), Verb.RETRY, 0);
  }

  /**
   * Pauses, resumes, runs or retries a timer.
   *
   * @param key the timer
   * @param verb the command
   * @param version the version that the timer must have; 0 for any
   * @return a stage that completes after the commit
   */
  public CompletionStage<VerbResult> verbAsync(TimerKey key, Verb verb, long version) {
    return requests.stage(() -> requests.verb(key, verb, version, null));
  }

  /**
   * Pauses, resumes, runs or retries a timer. A repeated request changes nothing.
   *
   * @param key the timer
   * @param verb the command
   * @param version the version that the timer must have; 0 for any
   * @param request the request ID, by which a repetition is recognised; null if a repetition takes
   *     effect again
   * @return a stage that completes after the commit
   */
  public CompletionStage<VerbResult> verbAsync(
      TimerKey key, Verb verb, long version, @Nullable RequestId request) {
    return requests.stage(() -> requests.verb(key, verb, version, request));
  }

  /**
   * Pauses, resumes, runs or retries many timers. Each command succeeds or fails on its own.
   *
   * @param keys the timers
   * @param verb the command
   * @return the result of each, in the same order
   */
  public List<BatchResult<VerbResult>> verbAll(Collection<TimerKey> keys, Verb verb) {
    return requests.await(requests.verbAll(keys, verb, null));
  }

  /**
   * Pauses, resumes, runs or retries many timers, as {@link #verbAll} does.
   *
   * @param keys the timers
   * @param verb the command
   * @return a stage that completes when all are answered
   */
  public CompletionStage<List<BatchResult<VerbResult>>> verbAllAsync(
      Collection<TimerKey> keys, Verb verb) {
    return requests.stage(() -> requests.verbAll(keys, verb, null));
  }

  /**
   * Pauses, resumes, runs or retries many timers. A repeated request changes nothing.
   *
   * @param keys the timers
   * @param verb the command
   * @param request the request ID, by which a repetition is recognised; null if a repetition takes
   *     effect again
   * @return a stage that completes when all are answered
   */
  public CompletionStage<List<BatchResult<VerbResult>>> verbAllAsync(
      Collection<TimerKey> keys, Verb verb, @Nullable RequestId request) {
    return requests.stage(() -> requests.verbAll(keys, verb, request));
  }

  /**
   * Moves the present or next run of a timer to another time. The timer gets a new version. If the
   * time is in the past, the run is due now. It does not count as missed, unless the timer is
   * paused.
   *
   * @param namespace its namespace
   * @param id its id
   * @param at the time
   * @return the result
   */
  public VerbResult move(String namespace, String id, Instant at) {
    return move(Limits.key(namespace, id), at, 0);
  }

  /**
   * Moves the present or next run of a timer to another time, if it has a certain version.
   *
   * @param key the timer
   * @param at the time
   * @param version the version that the timer must have; 0 for any
   * @return the result
   */
  public VerbResult move(TimerKey key, Instant at, long version) {
    return requests.await(requests.move(key, at, version, null));
  }

  /**
   * Moves a run, as {@link #move(String, String, Instant)} does.
   *
   * @param namespace its namespace
   * @param id its id
   * @param at the time
   * @return a stage that completes after the commit
   */
  public CompletionStage<VerbResult> moveAsync(String namespace, String id, Instant at) {
    return moveAsync(Limits.key(namespace, id), at, 0);
  }

  /**
   * Moves a run, as {@link #move(TimerKey, Instant, long)} does.
   *
   * @param key the timer
   * @param at the time
   * @param version the version that the timer must have; 0 for any
   * @return a stage that completes after the commit
   */
  public CompletionStage<VerbResult> moveAsync(TimerKey key, Instant at, long version) {
    return requests.stage(() -> requests.move(key, at, version, null));
  }

  /**
   * Moves a run. A repeated request changes nothing.
   *
   * @param key the timer
   * @param at the time
   * @param version the version that the timer must have; 0 for any
   * @param request the request ID, by which a repetition is recognised; null if a repetition takes
   *     effect again
   * @return a stage that completes after the commit
   */
  public CompletionStage<VerbResult> moveAsync(
      TimerKey key, Instant at, long version, @Nullable RequestId request) {
    return requests.stage(() -> requests.move(key, at, version, request));
  }

  /**
   * Stores a number as the answer to a request, unless the request already has an answer. Meant for
   * requests that do not belong to one timer, such as bulk operations.
   *
   * @param key the subject of the request; a timer with this key need not exist
   * @param request the request
   * @param answer the number; empty to read the stored one
   * @return a stage that completes with the stored number; empty if there is none
   */
  public CompletionStage<OptionalLong> keepAnswerAsync(
      TimerKey key, RequestId request, OptionalLong answer) {
    requireNonNull(request, "request");
    return requests.stage(() -> requests.keep(key, request, answer));
  }

  /**
   * Moves the present or next runs of many timers to one time. Each move succeeds or fails on its
   * own.
   *
   * @param keys the timers
   * @param at the time
   * @return the result of each, in the same order
   */
  public List<BatchResult<VerbResult>> moveAll(Collection<TimerKey> keys, Instant at) {
    return requests.await(requests.moveAll(keys, at));
  }

  /**
   * Moves the runs of many timers, as {@link #moveAll} does.
   *
   * @param keys the timers
   * @param at the time
   * @return a stage that completes when all are answered
   */
  public CompletionStage<List<BatchResult<VerbResult>>> moveAllAsync(
      Collection<TimerKey> keys, Instant at) {
    return requests.stage(() -> requests.moveAll(keys, at));
  }

  // Pauses of namespaces

  /**
   * Pauses a namespace. Once this method returns, no attempt begins in it on any node until it is
   * resumed. Running attempts continue to their end.
   *
   * @param namespace the namespace
   * @return the number of handler attempts that are running in the namespace, on all nodes
   * @throws io.timewheel.durable.model.DurableTimerException with {@link
   *     io.timewheel.durable.model.DurableTimerException.Reason#UNKNOWN} if the namespace is paused
   *     but a live node did not confirm it in time. The message names the node
   */
  public int pause(String namespace) {
    return requests.pause(Limits.name("namespace", namespace));
  }

  /**
   * Pauses a namespace, as {@link #pause(String)} does.
   *
   * @param namespace the namespace
   * @return a stage that completes with the number of running attempts when all nodes have
   *     confirmed the pause
   */
  public CompletionStage<Integer> pauseAsync(String namespace) {
    Limits.name("namespace", namespace);
    return requests.later(() -> requests.pause(namespace));
  }

  /**
   * Ends the pause of a namespace. Overdue timers fire.
   *
   * @param namespace the namespace
   */
  public void resume(String namespace) {
    requests.resume(Limits.name("namespace", namespace));
  }

  /**
   * Resumes a namespace, as {@link #resume(String)} does.
   *
   * @param namespace the namespace
   * @return a stage that completes after the commit
   */
  public CompletionStage<Void> resumeAsync(String namespace) {
    Limits.name("namespace", namespace);
    return requests.later(() -> requests.resume(namespace));
  }

  /**
   * Pauses all namespaces until {@link #resumeAll}, in the same way as {@link #pause(String)}.
   *
   * @return the number of handler attempts that are running, on all nodes
   */
  public int pauseAll() {
    return requests.pause(TimerStore.EVERYTHING);
  }

  /**
   * Pauses all namespaces, as {@link #pauseAll} does.
   *
   * @return a stage that completes with the number of running attempts when all nodes have
   *     confirmed the pause
   */
  public CompletionStage<Integer> pauseAllAsync() {
    return requests.later(this::pauseAll);
  }

  /** Ends {@link #pauseAll}. Namespaces that were paused individually stay paused. */
  public void resumeAll() {
    requests.resume(TimerStore.EVERYTHING);
  }

  /**
   * Ends {@link #pauseAll}, as {@link #resumeAll} does.
   *
   * @return a stage that completes after the commit
   */
  public CompletionStage<Void> resumeAllAsync() {
    return requests.later(() -> requests.resume(TimerStore.EVERYTHING));
  }

  /** {@return the paused namespaces; contains the empty string if everything is paused} */
  public Set<String> paused() {
    return requests.ask(store::paused).stream()
        .filter(scope -> !Scopes.isQueue(scope))
        .collect(Collectors.toUnmodifiableSet());
  }

  // Pauses of queues

  /**
   * Pauses a queue. Once this method returns, no node claims a timer of the queue until it is
   * resumed. Timers still become ready, and consumers may ack claimed ones. The pause is stored.
   *
   * @param namespace the namespace of the queue
   * @param queue its name
   * @return the number of timers of the queue that consumers have claimed
   * @throws io.timewheel.durable.model.DurableTimerException with {@link
   *     io.timewheel.durable.model.DurableTimerException.Reason#UNKNOWN} if the queue is paused but
   *     a live node did not confirm it in time. The message names the node
   */
  public long pauseQueue(String namespace, String queue) {
    Limits.name("namespace", namespace);
    return requests.pauseQueue(namespace, Limits.name("queue", queue));
  }

  /**
   * Pauses a queue, as {@link #pauseQueue} does.
   *
   * @param namespace the namespace of the queue
   * @param queue its name
   * @return a stage that completes with the number of claimed timers when all nodes have confirmed
   *     the pause
   */
  public CompletionStage<Long> pauseQueueAsync(String namespace, String queue) {
    Limits.name("namespace", namespace);
    Limits.name("queue", queue);
    return requests.later(() -> requests.pauseQueue(namespace, queue));
  }

  /**
   * Ends the pause of a queue. Waiting claims get its ready timers at once.
   *
   * @param namespace the namespace of the queue
   * @param queue its name
   */
  public void resumeQueue(String namespace, String queue) {
    Limits.name("namespace", namespace);
    requests.resume(Scopes.queue(namespace, Limits.name("queue", queue)));
  }

  /**
   * Resumes a queue, as {@link #resumeQueue} does.
   *
   * @param namespace the namespace of the queue
   * @param queue its name
   * @return a stage that completes after the commit
   */
  public CompletionStage<Void> resumeQueueAsync(String namespace, String queue) {
    Limits.name("namespace", namespace);
    Limits.name("queue", queue);
    return requests.later(() -> requests.resume(Scopes.queue(namespace, queue)));
  }

  // Lookups

  /**
   * Looks up a timer, including a retained finished one.
   *
   * @param namespace its namespace
   * @param id its id
   * @return the timer; empty if there is none
   */
  public Optional<TimerInfo> get(String namespace, String id) {
    TimerKey key = Limits.key(namespace, id);
    return Optional.ofNullable(requests.ask(() -> store.get(key)))
        .map(record -> new TimerInfo(record, engine.clock.nowMillis()));
  }

  /**
   * Lists timers, in the order of namespace and id unless the filter sets another order. Timers
   * that are added or removed during the listing may be missing. All others are returned exactly
   * once.
   *
   * @param filter selects the timers
   * @param pageSize the largest number of timers on the page, 1 to 10,000
   * @param page the token of a page of the same list, or null for the first page
   * @return a page; a page that is not the last may contain fewer timers, or none
   * @throws IllegalArgumentException if the token is invalid or belongs to another list
   */
  public TimerList list(TimerFilter filter, int pageSize, @Nullable String page) {
    Limits.count("pageSize", pageSize, MAX_PAGE);
    requireNonNull(filter, "filter");
    if (filter.order() != TimerOrder.ID && filter.query().namespace() == null) {
      throw new IllegalArgumentException("order: " + filter.order() + " (expected: a namespace)");
    }
    DuePosition after = page == null ? null : TimerList.parse(filter, page);
    return requests.list(filter, after, pageSize);
  }

  /**
   * Counts the timers that wait for their time or for their next attempt, in equal spans of time.
   *
   * @param namespace the namespace; null for all
   * @param from the beginning, inclusive
   * @param to the end, exclusive
   * @param buckets the number of spans of equal length, 1 to 100,000
   * @return the exact count of each span
   */
  public long[] histogram(@Nullable String namespace, Instant from, Instant to, int buckets) {
    Limits.count("buckets", buckets, MAX_BUCKETS);
    if (namespace != null) {
      Limits.name("namespace", namespace);
    }
    return requests.histogram(
        namespace, requireNonNull(from, "from"), requireNonNull(to, "to"), buckets);
  }

  /**
   * Counts timers that wait for their time or for their next attempt, by the time at which they
   * fire.
   *
   * @param namespace the namespace; null for all
   * @param bounds 2 to 100,001 ascending times; bucket i begins at the i-th time and ends before
   *     the next
   * @return the exact count of each bucket, one fewer than there are bounds
   */
  public long[] histogram(@Nullable String namespace, List<Instant> bounds) {
    Limits.count("buckets", bounds.size() - 1, MAX_BUCKETS);
    if (namespace != null) {
      Limits.name("namespace", namespace);
    }
    return requests.histogram(namespace, bounds);
  }

  /**
   * Returns the times at which a timer would run if it were scheduled now.
   *
   * @param spec the timer
   * @param count the largest number of runs
   * @return their times
   */
  public List<Instant> preview(TimerSpec spec, int count) {
    Limits.count("count", count, MAX_PREVIEW);
    return requests.preview(spec, count);
  }

  /** {@return the number of timers of each namespace in each state; a missing entry is zero} */
  public Map<String, Map<TimerState, Long>> counts() {
    return requests.ask(store::counts);
  }

  /** {@return the time of the clock that decides which timers are due, in whole milliseconds} */
  public Instant now() {
    return Instant.ofEpochMilli(engine.clock.nowMillis());
  }

  /** {@return the counters since the start, and the present state} */
  public DurableStats stats() {
    return requests.stats();
  }

  // Queues

  /**
   * Lists the queues that have unfinished timers or waiting claims, or are paused, in the order of
   * namespace and name.
   *
   * @param namespace only the queues of this namespace, or null
   * @param after only queues after this namespace and name; null to begin at the first
   * @param limit the largest number of queues, 1 to 10,000
   * @return the queues
   */
  public List<QueueInfo> queues(@Nullable String namespace, @Nullable TimerKey after, int limit) {
    if (namespace != null) {
      Limits.name("namespace", namespace);
    }
    Limits.count("limit", limit, MAX_PAGE);
    return requests.queues(namespace, after, limit);
  }

  /**
   * Counts the timers that consumers have claimed.
   *
   * @param namespace the namespace of the queues
   * @param queue the name of the queue, or null for all queues of the namespace
   * @return the number of claimed timers
   */
  public long claimed(String namespace, @Nullable String queue) {
    Limits.name("namespace", namespace);
    return requests.claimed(namespace, queue);
  }

  /**
   * Claims ready timers of a queue, or waits if there are none.
   *
   * @param namespace the namespace of the queue
   * @param queue its name
   * @param max the largest number of firings, 1 to 1,000
   * @param lease the duration of the claim lease, from a second to twelve hours
   * @param wait the longest wait for the first timer, from zero to a minute
   * @return a stage that completes with the claimed timers, or with an empty list if none became
   *     ready. If the consumer cancels the stage, its claimed timers are given back, and their
   *     attempts do not count
   */
  public CompletionStage<List<QueueFiring>> claim(
      String namespace, String queue, int max, Duration lease, Duration wait) {
    Limits.name("namespace", namespace);
    Limits.name("queue", queue);
    Limits.count("max", max, MAX_CLAIM);
    Limits.between("lease", lease, MIN_LEASE, MAX_LEASE);
    Limits.between("wait", wait, Duration.ZERO, Duration.ofMinutes(1));
    engine.committer.checkOpen();
    return requests.claim(namespace, queue, max, lease, wait);
  }

  /**
   * Gives back claimed timers that were not processed, for example because the response to the
   * consumer could not be sent. They are ready again, and their attempts do not count. A timer
   * whose claim lease has ended is not changed.
   *
   * @param firings the claimed timers
   */
  public void giveBack(List<QueueFiring> firings) {
    engine.committer.checkOpen();
    engine.consumers.giveBack(firings.stream().map(QueueFiring::claimed).toList());
  }

  /**
   * Ends a claim lease: the attempt succeeded.
   *
   * @param fireId the claimed run
   * @param lease the token of the claim lease
   * @return a stage that completes after the commit
   */
  public CompletionStage<LeaseResult> ack(FireId fireId, String lease) {
    return changeLease(LeaseChange.ack(fireId, lease));
  }

  /**
   * Ends a claim lease: the attempt failed.
   *
   * @param fireId the claimed run
   * @param lease the token of the claim lease
   * @param error the reason
   * @param after the wait until the next attempt; null for the wait of the retry policy
   * @return a stage that completes after the commit
   */
  public CompletionStage<LeaseResult> nack(
      FireId fireId, String lease, String error, @Nullable Duration after) {
    return changeLease(LeaseChange.nack(fireId, lease, error, after));
  }

  /**
   * Extends a claim lease.
   *
   * @param fireId the claimed run
   * @param lease the token of the claim lease
   * @param by the new duration from now on, from a second to twelve hours; the lease is never
   *     shortened
   * @return a stage that completes after the commit
   */
  public CompletionStage<LeaseResult> extend(FireId fireId, String lease, Duration by) {
    return changeLease(LeaseChange.extend(fireId, lease, by));
  }

  /**
   * Ends or extends a claim lease.
   *
   * @param change the end or the extension
   * @return a stage that completes after the commit
   */
  public CompletionStage<LeaseResult> changeLease(LeaseChange change) {
    return requests.stage(() -> requests.lease(change));
  }

  /**
   * Ends or extends many claim leases. Each change succeeds or fails on its own. Their timers are
   * read together.
   *
   * @param changes the ends and extensions
   * @return a stage that completes after all commits with the result of each, in the same order
   */
  public CompletionStage<List<BatchResult<LeaseResult>>> changeLeases(
      Collection<LeaseChange> changes) {
    return requests.stage(() -> requests.leaseAll(changes));
  }

  // Shared limits

  /**
   * Takes a permit of a limit that all nodes on the store share.
   *
   * @param name the name of the limit
   * @param limit the limit
   * @param holder a unique name of the permit
   * @param lease the time after which the permit expires
   * @return zero if it was taken, otherwise the time to wait before the next try
   */
  public Duration acquire(String name, SharedLimit limit, String holder, Duration lease) {
    long now = engine.clock.nowMillis();
    long until = now + lease.toMillis();
    return Duration.ofMillis(requests.ask(() -> store.acquire(name, limit, holder, until, now)));
  }

  /**
   * Gives a permit back. It also works while this scheduler closes, for attempts that end
   * meanwhile. After the close, the permit expires with its lease.
   *
   * @param name the name of the limit
   * @param holder the name of the permit
   */
  public void release(String name, String holder) {
    requests.release(name, holder);
  }

  // Close

  /** Closes this scheduler with a shutdown timeout of ten seconds. */
  @Override
  public void close() {
    close(Duration.ofSeconds(10));
  }

  /**
   * Closes this scheduler: starts no further attempts, waits for running ones, records their
   * outcomes and closes the store.
   *
   * <ul>
   *   <li>Changes that were accepted before are committed. A call that still waits for room in a
   *       full queue fails at once with an {@link IllegalStateException}, and changes nothing.
   *   <li>Attempts that are claimed but not started are given back.
   *   <li>Running handlers may use this scheduler until they end.
   *   <li>After the shutdown timeout, running handlers are interrupted, or their stages cancelled.
   *       Their attempts count as lost, and their timers fire again after the next start. Changes
   *       that the store has not answered by then fail with {@link
   *       io.timewheel.durable.model.DurableTimerException.Reason#STORE_UNAVAILABLE}, or with
   *       {@link io.timewheel.durable.model.DurableTimerException.Reason#UNKNOWN} if they may have
   *       been committed.
   * </ul>
   *
   * A second call waits for the first one, up to its own shutdown timeout.
   *
   * @param shutdownTimeout zero or less to not wait at all
   * @throws IllegalStateException if a handler calls this method, because it would wait for itself;
   *     close on another thread instead
   */
  public void close(Duration shutdownTimeout) {
    requireNonNull(shutdownTimeout, "shutdownTimeout");
    closing.close(shutdownTimeout);
  }
}
