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
 * timer.cancel("shop", "order-42"); // CANCELLED, RUNNING, COMPLETED or NOT_FOUND
 * }</pre>
 *
 * <p>Methods may be called from any thread, handlers included. Those that change something return
 * after the commit; their asynchronous twins complete after it. They throw {@link
 * io.timewheel.durable.model.DurableTimerException} with the reason, {@link
 * IllegalArgumentException} for what no store could do, and {@link IllegalStateException} after
 * {@link #close}. A stage that they return fails with the first of these; the other two are thrown
 * at once. While as many changes wait for the store as may, a call waits with them, asynchronous or
 * not, unless the timer was built to {@linkplain DurableTimerBuilder#queueCapacity refuse}.
 *
 * <p>A thread that is interrupted stays so, and waits no longer: for room, it gets {@link
 * io.timewheel.durable.model.DurableTimerException.Reason#BUSY}, and nothing was done; for its
 * answer, {@link io.timewheel.durable.model.DurableTimerException.Reason#UNKNOWN}, and what it
 * asked for may be done or not.
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
   * Begins to build a timer.
   *
   * @param store where its timers are kept; closed with it
   * @return a builder
   */
  public static DurableTimerBuilder builder(TimerStore store) {
    return new DurableTimerBuilder(store, false);
  }

  /**
   * Begins to build a client: a timer that owns no shards and runs no handlers. It schedules,
   * cancels, lists and retries timers, and serves consumers of queues; other nodes of the same
   * store fire the timers. It purges no history.
   *
   * @param store where its timers are kept; closed with it
   * @return a builder, which refuses handlers
   * @throws IllegalArgumentException if the store has one owner and cannot be shared
   */
  public static DurableTimerBuilder client(TimerStore store) {
    return new DurableTimerBuilder(store, true);
  }

  /**
   * Begins to fire, if this timer was built without being started. Idempotent.
   *
   * @throws IllegalArgumentException if the executor of handlers runs tasks on the calling thread
   * @throws IllegalStateException if it is closed
   */
  public void start() {
    engine.start();
  }

  // Schedule

  /**
   * Schedules a timer, or replaces the one of the same identity.
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
   * @return completed after the commit
   */
  public CompletionStage<ScheduleResult> scheduleAsync(TimerSpec spec) {
    return requests.stage(() -> requests.schedule(spec));
  }

  /**
   * Schedules many timers, each by itself; as few commits as there can be.
   *
   * @param specs the timers
   * @return what came of each, in the same order
   */
  public List<BatchResult<ScheduleResult>> scheduleAll(Collection<TimerSpec> specs) {
    return requests.await(requests.scheduleAll(specs));
  }

  /**
   * Schedules many timers, as {@link #scheduleAll} does.
   *
   * @param specs the timers
   * @return completed when all are answered
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
   * @return whether it was in time
   */
  public CancelResult cancel(String namespace, String id) {
    return cancel(Limits.key(namespace, id), 0);
  }

  /**
   * Cancels a timer if it has a certain version.
   *
   * @param key its identity
   * @param version the version; 0 for any
   * @return whether it was in time
   */
  public CancelResult cancel(TimerKey key, long version) {
    return requests.await(requests.cancel(key, version, null));
  }

  /**
   * Cancels a timer, as {@link #cancel(String, String)} does.
   *
   * @param namespace its namespace
   * @param id its id
   * @return completed after the commit
   */
  public CompletionStage<CancelResult> cancelAsync(String namespace, String id) {
    return cancelAsync(Limits.key(namespace, id), 0);
  }

  /**
   * Cancels a timer, as {@link #cancel(TimerKey, long)} does.
   *
   * @param key its identity
   * @param version the version; 0 for any
   * @return completed after the commit
   */
  public CompletionStage<CancelResult> cancelAsync(TimerKey key, long version) {
    return requests.stage(() -> requests.cancel(key, version, null));
  }

  /**
   * Cancels a timer, once for each request.
   *
   * @param key its identity
   * @param version the version; 0 for any
   * @param request what a repetition is recognised by; null if it is done again
   * @return completed after the commit
   */
  public CompletionStage<CancelResult> cancelAsync(
      TimerKey key, long version, @Nullable RequestId request) {
    return requests.stage(() -> requests.cancel(key, version, request));
  }

  /**
   * Cancels many timers, each by itself.
   *
   * @param keys their identities
   * @return what came of each, in the same order
   */
  public List<BatchResult<CancelResult>> cancelAll(Collection<TimerKey> keys) {
    return requests.await(requests.cancelAll(keys, null));
  }

  /**
   * Cancels many timers, as {@link #cancelAll} does.
   *
   * @param keys their identities
   * @return completed when all are answered
   */
  public CompletionStage<List<BatchResult<CancelResult>>> cancelAllAsync(
      Collection<TimerKey> keys) {
    return requests.stage(() -> requests.cancelAll(keys, null));
  }

  /**
   * Cancels many timers, each once for each request.
   *
   * @param keys their identities
   * @param request what a repetition is recognised by; null if it is done again
   * @return completed when all are answered
   */
  public CompletionStage<List<BatchResult<CancelResult>>> cancelAllAsync(
      Collection<TimerKey> keys, @Nullable RequestId request) {
    return requests.stage(() -> requests.cancelAll(keys, request));
  }

  // What a person asks for

  /**
   * Pauses a timer. No attempt starts until it is resumed, except one that was claimed before.
   *
   * <p>This method does not wait for other nodes. A node claims an attempt shortly before its time,
   * and the timer is {@link io.timewheel.durable.model.TimerState#RUNNING RUNNING} from then on. If
   * this node has claimed the attempt and not started it, it gives the attempt back. If another
   * node has claimed it, the attempt starts or continues there. If it fails, no retry starts. To
   * wait for all nodes, {@linkplain #pause(String) pause the namespace}.
   *
   * @param namespace its namespace
   * @param id its id
   * @return what came of it
   */
  public VerbResult pause(String namespace, String id) {
    return requests.await(requests.verb(Limits.key(namespace, id), Verb.PAUSE, 0, null));
  }

  /**
   * Pauses a timer, as {@link #pause(String, String)} does.
   *
   * @param namespace its namespace
   * @param id its id
   * @return completed after the commit
   */
  public CompletionStage<VerbResult> pauseAsync(String namespace, String id) {
    return verbAsync(Limits.key(namespace, id), Verb.PAUSE, 0);
  }

  /**
   * Ends the pause of a timer; if it is overdue it fires.
   *
   * @param namespace its namespace
   * @param id its id
   * @return what came of it
   */
  public VerbResult resume(String namespace, String id) {
    return requests.await(requests.verb(Limits.key(namespace, id), Verb.RESUME, 0, null));
  }

  /**
   * Resumes a timer, as {@link #resume(String, String)} does.
   *
   * @param namespace its namespace
   * @param id its id
   * @return completed after the commit
   */
  public CompletionStage<VerbResult> resumeAsync(String namespace, String id) {
    return verbAsync(Limits.key(namespace, id), Verb.RESUME, 0);
  }

  /**
   * Fires a timer now. A recurring one keeps its schedule.
   *
   * @param namespace its namespace
   * @param id its id
   * @return what came of it
   */
  public VerbResult runNow(String namespace, String id) {
    return requests.await(requests.verb(Limits.key(namespace, id), Verb.RUN, 0, null));
  }

  /**
   * Fires a timer now, as {@link #runNow} does.
   *
   * @param namespace its namespace
   * @param id its id
   * @return completed after the commit
   */
  public CompletionStage<VerbResult> runNowAsync(String namespace, String id) {
    return verbAsync(Limits.key(namespace, id), Verb.RUN, 0);
  }

  /**
   * Fires failed or blocked timers, with attempts counted anew.
   *
   * @param namespace its namespace
   * @param id its id
   * @return what came of it
   */
  public VerbResult retry(String namespace, String id) {
    return requests.await(requests.verb(Limits.key(namespace, id), Verb.RETRY, 0, null));
  }

  /**
   * Retries a timer, as {@link #retry} does.
   *
   * @param namespace its namespace
   * @param id its id
   * @return completed after the commit
   */
  public CompletionStage<VerbResult> retryAsync(String namespace, String id) {
    return verbAsync(Limits.key(namespace, id), Verb.RETRY, 0);
  }

  /**
   * Pauses, resumes, runs or retries a timer.
   *
   * @param key the timer
   * @param verb what to do
   * @param version only if it has this version; 0 for any
   * @return completed after the commit
   */
  public CompletionStage<VerbResult> verbAsync(TimerKey key, Verb verb, long version) {
    return requests.stage(() -> requests.verb(key, verb, version, null));
  }

  /**
   * Pauses, resumes, runs or retries a timer, once for each request.
   *
   * @param key the timer
   * @param verb what to do
   * @param version only if it has this version; 0 for any
   * @param request what a repetition is recognised by; null if it is done again
   * @return completed after the commit
   */
  public CompletionStage<VerbResult> verbAsync(
      TimerKey key, Verb verb, long version, @Nullable RequestId request) {
    return requests.stage(() -> requests.verb(key, verb, version, request));
  }

  /**
   * Pauses, resumes, runs or retries many timers, each by itself.
   *
   * @param keys the timers
   * @param verb what to do
   * @return what came of each, in the same order
   */
  public List<BatchResult<VerbResult>> verbAll(Collection<TimerKey> keys, Verb verb) {
    return requests.await(requests.verbAll(keys, verb, null));
  }

  /**
   * Pauses, resumes, runs or retries many timers, as {@link #verbAll} does.
   *
   * @param keys the timers
   * @param verb what to do
   * @return completed when all are answered
   */
  public CompletionStage<List<BatchResult<VerbResult>>> verbAllAsync(
      Collection<TimerKey> keys, Verb verb) {
    return requests.stage(() -> requests.verbAll(keys, verb, null));
  }

  /**
   * Pauses, resumes, runs or retries many timers, each once for each request.
   *
   * @param keys the timers
   * @param verb what to do
   * @param request what a repetition is recognised by; null if it is done again
   * @return completed when all are answered
   */
  public CompletionStage<List<BatchResult<VerbResult>>> verbAllAsync(
      Collection<TimerKey> keys, Verb verb, @Nullable RequestId request) {
    return requests.stage(() -> requests.verbAll(keys, verb, request));
  }

  /**
   * Moves the present or next run of a timer to another time; a new version. A past time is now:
   * that run was not missed, unless the timer is paused.
   *
   * @param namespace its namespace
   * @param id its id
   * @param at the time
   * @return what came of it
   */
  public VerbResult move(String namespace, String id, Instant at) {
    return move(Limits.key(namespace, id), at, 0);
  }

  /**
   * Moves the present or next run of a timer to another time, if it has a certain version.
   *
   * @param key the timer
   * @param at the time
   * @param version only if it has this version; 0 for any
   * @return what came of it
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
   * @return completed after the commit
   */
  public CompletionStage<VerbResult> moveAsync(String namespace, String id, Instant at) {
    return moveAsync(Limits.key(namespace, id), at, 0);
  }

  /**
   * Moves a run, as {@link #move(TimerKey, Instant, long)} does.
   *
   * @param key the timer
   * @param at the time
   * @param version only if it has this version; 0 for any
   * @return completed after the commit
   */
  public CompletionStage<VerbResult> moveAsync(TimerKey key, Instant at, long version) {
    return requests.stage(() -> requests.move(key, at, version, null));
  }

  /**
   * Moves a run, once for each request.
   *
   * @param key the timer
   * @param at the time
   * @param version only if it has this version; 0 for any
   * @param request what a repetition is recognised by; null if it is done again
   * @return completed after the commit
   */
  public CompletionStage<VerbResult> moveAsync(
      TimerKey key, Instant at, long version, @Nullable RequestId request) {
    return requests.stage(() -> requests.move(key, at, version, request));
  }

  /**
   * Keeps a number as the answer of a request that is no change of one timer, unless that request
   * has an answer.
   *
   * @param key what the request is about; there need not be such a timer
   * @param request the request
   * @param answer the number; empty to keep none, and to read the one that is kept
   * @return completed with the number that is kept; empty if there is none
   */
  public CompletionStage<OptionalLong> keepAnswerAsync(
      TimerKey key, RequestId request, OptionalLong answer) {
    requireNonNull(request, "request");
    return requests.stage(() -> requests.keep(key, request, answer));
  }

  /**
   * Moves the present or next runs of many timers to one time, each by itself.
   *
   * @param keys the timers
   * @param at the time
   * @return what came of each, in the same order
   */
  public List<BatchResult<VerbResult>> moveAll(Collection<TimerKey> keys, Instant at) {
    return requests.await(requests.moveAll(keys, at));
  }

  /**
   * Moves the runs of many timers, as {@link #moveAll} does.
   *
   * @param keys the timers
   * @param at the time
   * @return completed when all are answered
   */
  public CompletionStage<List<BatchResult<VerbResult>>> moveAllAsync(
      Collection<TimerKey> keys, Instant at) {
    return requests.stage(() -> requests.moveAll(keys, at));
  }

  // Pauses of namespaces

  /**
   * Pauses a namespace. Once this returns, no attempt begins in it on any node until it is resumed.
   * Attempts that run already may end.
   *
   * @param namespace the namespace
   * @return how many attempts of handlers run in the namespace, on all nodes
   * @throws io.timewheel.durable.model.DurableTimerException with {@link
   *     io.timewheel.durable.model.DurableTimerException.Reason#UNKNOWN} if the namespace is
   *     paused, and a live node has not confirmed it in time. The message names it
   */
  public int pause(String namespace) {
    return requests.pause(Limits.name("namespace", namespace));
  }

  /**
   * Pauses a namespace, as {@link #pause(String)} does.
   *
   * @param namespace the namespace
   * @return completed with the number of attempts that run, when all nodes have confirmed the pause
   */
  public CompletionStage<Integer> pauseAsync(String namespace) {
    Limits.name("namespace", namespace);
    return requests.later(() -> requests.pause(namespace));
  }

  /**
   * Ends the pause of a namespace; overdue timers fire.
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
   * @return completed when the store has it
   */
  public CompletionStage<Void> resumeAsync(String namespace) {
    Limits.name("namespace", namespace);
    return requests.later(() -> requests.resume(namespace));
  }

  /**
   * Pauses everything, as {@link #pause(String)} does a namespace, until {@link #resumeAll}.
   *
   * @return how many attempts of handlers run, on all nodes
   */
  public int pauseAll() {
    return requests.pause(TimerStore.EVERYTHING);
  }

  /** {@return as {@link #pauseAll}; completed when all nodes have confirmed the pause} */
  public CompletionStage<Integer> pauseAllAsync() {
    return requests.later(this::pauseAll);
  }

  /** Ends {@link #pauseAll}; namespaces that were paused by themselves stay so. */
  public void resumeAll() {
    requests.resume(TimerStore.EVERYTHING);
  }

  /** {@return as {@link #resumeAll}; completed when the store has it} */
  public CompletionStage<Void> resumeAllAsync() {
    return requests.later(() -> requests.resume(TimerStore.EVERYTHING));
  }

  /** {@return the namespaces that are paused; an empty text among them means all are} */
  public Set<String> paused() {
    return requests.ask(store::paused).stream()
        .filter(scope -> !Scopes.isQueue(scope))
        .collect(Collectors.toUnmodifiableSet());
  }

  // Pauses of queues

  /**
   * Pauses a queue. Once this returns, no claim on any node takes a timer of it until it is
   * resumed. Timers become ready as before, and claimed ones may be acked. The pause is stored.
   *
   * @param namespace the namespace of the queue
   * @param queue its name
   * @return how many timers of the queue consumers have claimed
   * @throws io.timewheel.durable.model.DurableTimerException with {@link
   *     io.timewheel.durable.model.DurableTimerException.Reason#UNKNOWN} if the queue is paused,
   *     and a live node has not confirmed it in time. The message names it
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
   * @return completed with the number of claimed timers, when all nodes have confirmed the pause
   */
  public CompletionStage<Long> pauseQueueAsync(String namespace, String queue) {
    Limits.name("namespace", namespace);
    Limits.name("queue", queue);
    return requests.later(() -> requests.pauseQueue(namespace, queue));
  }

  /**
   * Ends the pause of a queue. Waiting claims take its ready timers at once.
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
   * @return completed when the store has it
   */
  public CompletionStage<Void> resumeQueueAsync(String namespace, String queue) {
    Limits.name("namespace", namespace);
    Limits.name("queue", queue);
    return requests.later(() -> requests.resume(Scopes.queue(namespace, queue)));
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
    TimerKey key = Limits.key(namespace, id);
    return Optional.ofNullable(requests.ask(() -> store.get(key))).map(TimerInfo::new);
  }

  /**
   * Lists timers, in the order of namespace and id unless the filter asks for another. Timers added
   * or removed meanwhile may be missing. All others are returned, each once.
   *
   * @param filter which
   * @param pageSize how many at most, 1 to 10,000
   * @param page the token of a page of the same list, or null for the first page
   * @return a page; it may hold fewer timers, even none, and not be the last
   * @throws IllegalArgumentException if the token is none, or one of another list
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
   * Counts what fires when: timers that wait for their time or for their next attempt.
   *
   * @param namespace of which namespace; null for all
   * @param from the beginning
   * @param to the end, not part of it
   * @param buckets in how many spans of equal length, 1 to 100,000
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
   * @param bounds 2 to 100,001 ascending times: bucket i begins at the i-th and ends before the
   *     next
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
   * When a timer would run if it were scheduled now.
   *
   * @param spec what would be asked for
   * @param count how many runs at most
   * @return their times
   */
  public List<Instant> preview(TimerSpec spec, int count) {
    Limits.count("count", count, MAX_PREVIEW);
    return requests.preview(spec, count);
  }

  /** {@return how many timers each namespace has in each state; what is missing is zero} */
  public Map<String, Map<TimerState, Long>> counts() {
    return requests.ask(store::counts);
  }

  /** {@return the time by the clock that decides what is due, in whole milliseconds} */
  public Instant now() {
    return Instant.ofEpochMilli(engine.clock.nowMillis());
  }

  /** {@return what this timer has done since it was started, and how it stands} */
  public DurableStats stats() {
    return requests.stats();
  }

  // Queues

  /**
   * Lists queues in the order of namespace and name: those that have unfinished timers or waiting
   * claims, or are paused.
   *
   * @param namespace only the queues of this namespace, or null
   * @param after only queues behind this namespace and name; null to begin at the first
   * @param limit how many at most, 1 to 10,000
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
   * Claims what is due for a queue, and waits for it if there is nothing.
   *
   * @param namespace the namespace of the queue
   * @param queue its name
   * @param max how many firings at most, 1 to 1,000
   * @param lease how long they are one's own: a second to twelve hours
   * @param wait how long to wait for the first one: zero to a minute
   * @return completed with what was claimed; with nothing if there was nothing. A consumer that
   *     cancels it claims nothing: what was leased for it meanwhile is given back, uncounted
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
   * Gives back what was claimed and not touched, as when the answer to its consumer could not be
   * sent: it does not count as an attempt, and is ready again. One whose lease has ended stays as
   * it is.
   *
   * @param firings the claimed timers
   */
  public void giveBack(List<QueueFiring> firings) {
    engine.committer.checkOpen();
    engine.consumers.giveBack(firings.stream().map(QueueFiring::claimed).toList());
  }

  /**
   * Ends a lease well.
   *
   * @param fireId the claimed run
   * @param lease the lease
   * @return completed after the commit
   */
  public CompletionStage<LeaseResult> ack(FireId fireId, String lease) {
    return changeLease(LeaseChange.ack(fireId, lease));
  }

  /**
   * Ends a lease badly: the attempt failed.
   *
   * @param fireId the claimed run
   * @param lease the lease
   * @param error why
   * @param after when to try again; by the timer's retry policy if null
   * @return completed after the commit
   */
  public CompletionStage<LeaseResult> nack(
      FireId fireId, String lease, String error, @Nullable Duration after) {
    return changeLease(LeaseChange.nack(fireId, lease, error, after));
  }

  /**
   * Extends a lease.
   *
   * @param fireId the claimed run
   * @param lease the lease
   * @param by how long it lasts from now on, a second to twelve hours; it is never shortened
   * @return completed after the commit
   */
  public CompletionStage<LeaseResult> extend(FireId fireId, String lease, Duration by) {
    return changeLease(LeaseChange.extend(fireId, lease, by));
  }

  /**
   * Ends or extends a lease.
   *
   * @param change the end or the extension
   * @return completed after the commit
   */
  public CompletionStage<LeaseResult> changeLease(LeaseChange change) {
    return requests.stage(() -> requests.lease(change));
  }

  /**
   * Ends or extends many leases, each by itself. Their timers are read together.
   *
   * @param changes the ends and extensions
   * @return completed with the result of each, in the same order, after all commits
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
   * @param holder names the permit; unique
   * @param lease the time after which the permit ends by itself
   * @return zero if it was taken, otherwise the time after which to try again
   */
  public Duration acquire(String name, SharedLimit limit, String holder, Duration lease) {
    long now = engine.clock.nowMillis();
    long until = now + lease.toMillis();
    return Duration.ofMillis(requests.ask(() -> store.acquire(name, limit, holder, until, now)));
  }

  /**
   * Gives a permit back.
   *
   * @param name the name of the limit
   * @param holder names the permit
   */
  public void release(String name, String holder) {
    String unused =
        requests.ask(
            () -> {
              store.release(name, holder);
              return holder;
            });
  }

  // The end

  /** Closes this timer with a patience of ten seconds. */
  @Override
  public void close() {
    close(Duration.ofSeconds(10));
  }

  /**
   * Lets nothing begin any more, waits for what runs, records how it ended, and closes the store.
   *
   * <ul>
   *   <li>Changes that were accepted before are committed. A caller that still waits for room in a
   *       full queue is told at once that the timer is closed, and nothing of its call was done.
   *   <li>What was claimed and has not begun is given back.
   *   <li>Handlers that run may use this timer until they end.
   *   <li>When the patience is over, handlers that run are interrupted, or their stages cancelled,
   *       and count as lost: their timers fire again after the next start. What the store has not
   *       answered by then fails as {@link
   *       io.timewheel.durable.model.DurableTimerException.Reason#STORE_UNAVAILABLE}, or as {@link
   *       io.timewheel.durable.model.DurableTimerException.Reason#UNKNOWN} if it may have been
   *       done.
   * </ul>
   *
   * A second call waits until the first has ended, within its own patience.
   *
   * @param patience how long to wait; zero or less to not wait at all
   * @throws IllegalStateException if called by a handler, which would wait for its own end; close
   *     on another thread instead
   */
  public void close(Duration patience) {
    requireNonNull(patience, "patience");
    closing.close(patience);
  }
}
