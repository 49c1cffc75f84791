// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.engine.Closing;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.LeaseResult;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Schedules timers that survive the process. Once a call returns, its timer is in the store and
 * fires at least once, even after a process crash or the loss of a node.
 *
 * <pre>{@code
 * DurableTimer scheduler = DurableTimer.builder(store)
 *     .handler("orders.cancel", firing -> orders.cancel(firing.id()))
 *     .start();
 * scheduler.schedule(TimerSpec.of("shop", "order-42")
 *     .after(Duration.ofMinutes(30))
 *     .handler("orders.cancel"));
 * ...
 * scheduler.timer("shop", "order-42").cancel(); // CANCELLED, RUNNING, COMPLETED or NOT_FOUND
 * scheduler.timer("shop", "order-43").ifVersion(3).move(tomorrow);
 * scheduler.timers(TimerFilter.unfinished().namespace("shop").prefix("order-")).pause();
 * scheduler.namespace("shop").resume();
 * }</pre>
 *
 * <p>All methods are thread-safe, and handlers may call them. Methods that change timers block
 * until the commit; those of {@link #async} return a stage instead. Failed operations throw {@link
 * io.timewheel.durable.model.DurableTimerException} with the reason. Invalid arguments throw {@link
 * IllegalArgumentException}, and calls after {@link #close} throw {@link IllegalStateException}. If
 * the write queue is full, a call blocks, unless the scheduler was built to {@linkplain
 * DurableTimerBuilder#queueCapacity refuse} it.
 *
 * <p>An interrupted call stops waiting, and the thread keeps its interrupt status. If the call was
 * waiting for room in the queue, it fails with {@link
 * io.timewheel.durable.model.DurableTimerException.Reason#BUSY} and nothing was changed. If it was
 * waiting for the store's answer, it fails with {@link
 * io.timewheel.durable.model.DurableTimerException.Reason#UNKNOWN}. The change may or may not be
 * committed.
 */
public final class DurableTimer implements AutoCloseable {
  private static final int MAX_PAGE = 10_000;
  private static final int MAX_PREVIEW = 1_000;

  private final Requests requests;
  private final AsyncDurableTimer async;
  private final Closing closing;

  DurableTimer(Requests requests, Closing closing) {
    this.requests = requests;
    this.closing = closing;
    async = new AsyncDurableTimer(requests);
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
    requests.engine.start();
  }

  // Changes

  /**
   * Schedules a timer, or replaces the timer with the same key.
   *
   * @param spec the timer
   * @return the outcome
   */
  public ScheduleResult schedule(TimerSpec spec) {
    return requests.await(requests.one(spec, requests.changes.schedule()));
  }

  /**
   * Schedules many timers in as few commits as possible. Each timer succeeds or fails on its own.
   *
   * @param specs the timers
   * @return the result of each, in the same order
   */
  public List<BatchResult<ScheduleResult>> scheduleAll(Collection<TimerSpec> specs) {
    return requests.await(requests.all(specs, "spec", TimerSpec::key, requests.changes.schedule()));
  }

  /**
   * Selects a timer, which need not exist.
   *
   * @param namespace its namespace
   * @param id its id
   * @return its commands
   */
  public TimerRef timer(String namespace, String id) {
    return new TimerRef(requests, Limits.key(namespace, id));
  }

  /**
   * Selects a timer, which need not exist.
   *
   * @param key its key
   * @return its commands
   */
  public TimerRef timer(TimerKey key) {
    return new TimerRef(requests, Limits.key(key));
  }

  /**
   * Selects many timers.
   *
   * @param keys their keys
   * @return their commands, which return the result of each, in the same order
   */
  public TimerCommands<List<BatchResult<CancelResult>>, List<BatchResult<VerbResult>>> timers(
      Collection<TimerKey> keys) {
    return new TimerCommands<>(
        requests.changes,
        call -> requests.await(requests.all(keys, call)),
        call -> requests.await(requests.all(keys, call)));
  }

  /**
   * Selects the timers that match a filter.
   *
   * @param filter selects the timers
   * @return their list and their commands
   */
  public TimerSelection timers(TimerFilter filter) {
    return new TimerSelection(requests, requireNonNull(filter, "filter"));
  }

  /**
   * Selects a queue. Its methods block; those of {@link AsyncDurableTimer#queue} do not.
   *
   * @param namespace the namespace of the queue
   * @param name its name
   * @return its claims and commands
   */
  public QueueRef<List<QueueFiring>, LeaseResult> queue(String namespace, String name) {
    return new QueueRef<>(
        requests,
        namespace,
        name,
        requests::awaitClaim,
        change -> requests.await(requests.leases.change(change)));
  }

  /**
   * Selects a namespace.
   *
   * @param name its name
   * @return its commands and counts
   */
  public NamespaceRef namespace(String name) {
    return new NamespaceRef(requests, requireNonNull(name, "namespace"));
  }

  /** {@return the commands and counts of all namespaces together} */
  public NamespaceRef allNamespaces() {
    return new NamespaceRef(requests, null);
  }

  /** {@return the calls that return a stage instead of waiting for the commit} */
  public AsyncDurableTimer async() {
    return async;
  }

  // Lookups

  /** {@return the number of timers of each namespace in each state; a missing entry is zero} */
  public Map<String, Map<TimerState, Long>> counts() {
    return requests.ask(requests.store::counts);
  }

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

  /** {@return the paused namespaces; contains the empty string if everything is paused} */
  public Set<String> paused() {
    return requests.ask(requests.store::paused).stream()
        .filter(scope -> !Scopes.isQueue(scope))
        .collect(Collectors.toUnmodifiableSet());
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
    return requests.changes.preview(spec, count);
  }

  /** {@return the time of the clock that decides which timers are due, in whole milliseconds} */
  public Instant now() {
    return Instant.ofEpochMilli(requests.engine.clock.nowMillis());
  }

  /** {@return the counters since the start, and the present state} */
  public DurableStats stats() {
    return requests.stats();
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
    long now = requests.engine.clock.nowMillis();
    long until = now + lease.toMillis();
    return Duration.ofMillis(
        requests.ask(() -> requests.store.acquire(name, limit, holder, until, now)));
  }

  /**
   * Gives a permit back. It also works while this scheduler closes, for attempts that end
   * meanwhile. After the close, the permit expires with its lease.
   *
   * @param name the name of the limit
   * @param holder the name of the permit
   */
  public void release(String name, String holder) {
    try {
      requests.store.release(name, holder);
    } catch (StoreException e) {
      throw Changes.failed(e);
    }
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
