// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timeout;
import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.internal.attempt.AttemptFiring;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.PageBuilder;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Serves the claims of consumers that wait for ready timers.
 *
 * <p>A queue with waiting claims is pending if it may have a ready timer, because of a new claim, a
 * notification or a sweep. One task serves all pending queues on its own executor. The task does
 * one bounded step. It calls the store once for all pending queues and hands over at most {@link
 * #MAX_LEASED} timers. It submits itself again while a queue is pending. So claims delay other work
 * by one step at most, and idle queues and notifications add no tasks or calls.
 *
 * <p>Queues take turns. Within a queue, claims are served in the order of their arrival.
 */
public final class QueueConsumers {
  private static final System.Logger LOG = GuardedLog.LOG;

  /** The largest number of timers that one step hands over, unless a single claim requests more. */
  private static final int MAX_LEASED = 256;

  /**
   * The time from a failed step to the next one, unless a claim or notification arrives earlier.
   */
  private static final Duration RETRY = Duration.ofSeconds(1);

  /** The longest wait after a limit was reached, in milliseconds. */
  private static final long LIMIT_MILLIS = 100;

  private final AttemptContext context;
  private final StoreTasks tasks;
  private final Consumer<TimerRecord> observer;
  private final Function<TimerKey, @Nullable SharedLimit> limits;
  private final ClaimTokens tokens = new ClaimTokens();

  /** The queues with waiting claims. */
  private final Map<TimerKey, Line> lines = new LinkedHashMap<>();

  /** The queues of the next step, in this order. */
  private final LinkedHashSet<TimerKey> pending = new LinkedHashSet<>();

  /** True if the next step includes all queues. */
  private boolean allPending;

  /** True if a step is queued or under way. */
  private boolean scheduled;

  /** True while a step is running. */
  private boolean serving;

  /** True while a failed step waits for its repetition. */
  private boolean retrying;

  /** The queues that wait because of a limit. */
  private final Set<TimerKey> delayed = new HashSet<>();

  /** The number of claims so far. */
  private long arrivals;

  private boolean closed;

  /**
   * @param observer receives the leased records
   * @param limits the present limit of a queue, or null
   */
  public QueueConsumers(
      AttemptContext context,
      StoreTasks tasks,
      Consumer<TimerRecord> observer,
      Function<TimerKey, @Nullable SharedLimit> limits) {
    this.limits = limits;
    this.context = context;
    this.tasks = tasks;
    this.observer = observer;
  }

  /** A waiting claim. */
  private static final class Waiter {
    final TimerKey queue;
    final int max;
    final long leaseMillis;
    final CompletableFuture<List<ClaimedTimer>> future = new CompletableFuture<>();
    long arrival;
    @Nullable Timeout timeout;

    Waiter(TimerKey queue, int max, long leaseMillis) {
      this.queue = queue;
      this.max = max;
      this.leaseMillis = leaseMillis;
    }
  }

  /** The waiting claims of a queue, in the order of their arrival. */
  private static final class Line {
    final LinkedHashSet<Waiter> all = new LinkedHashSet<>();

    /** The claims without a wait. They complete as soon as the queue has no ready timers. */
    final LinkedHashSet<Waiter> withoutWait = new LinkedHashSet<>();
  }

  /**
   * The first claims of a queue with equal lease durations, and the number of timers that they
   * request together.
   */
  private record Demand(TimerKey queue, List<Waiter> waiters, int wanted, long arrivals) {
    Waiter first() {
      return waiters.get(0);
    }
  }

  /**
   * Waits for ready timers.
   *
   * @return completes with the leased timers; a caller that completes it earlier stops waiting
   */
  public CompletableFuture<List<ClaimedTimer>> claim(
      String namespace, String queue, int max, Duration lease, Duration wait) {
    Waiter waiter = new Waiter(new TimerKey(namespace, queue), max, EpochMillis.ceil(lease));
    boolean waits = !wait.isZero();
    synchronized (this) {
      if (closed) {
        waiter.future.complete(List.of());
        return waiter.future;
      }
      waiter.arrival = arrivals++;
      Line line = lines.computeIfAbsent(waiter.queue, key -> new Line());
      line.all.add(waiter);
      if (!waits) {
        line.withoutWait.add(waiter);
      }
      pending.add(waiter.queue);
    }
    var unused = waiter.future.whenComplete((claimed, error) -> remove(waiter));
    if (waits) { // after the claim is registered, so that the timeout finds it
      limit(waiter, context.delays().start(() -> giveUp(waiter), wait));
    }
    schedule();
    return waiter.future;
  }

  private synchronized void limit(Waiter waiter, @Nullable Timeout timeout) {
    waiter.timeout = timeout;
    if (timeout != null && waiter.future.isDone()) {
      timeout.cancel();
    }
  }

  /** Records that a timer of a queue is ready. */
  public void ready(String namespace, String queue) {
    TimerKey key = new TimerKey(namespace, queue);
    synchronized (this) {
      if (!lines.containsKey(key) || !pending.add(key)) {
        return;
      }
    }
    schedule();
  }

  /** Makes all queues pending, in case a notification was lost. */
  public void sweep() {
    synchronized (this) {
      allPending = true;
    }
    schedule();
  }

  private void schedule() {
    synchronized (this) {
      allPending &= !lines.isEmpty();
      if (scheduled || (pending.isEmpty() && !allPending)) {
        return;
      }
      scheduled = true;
    }
    if (!tasks.claim(this::serve)) {
      synchronized (this) {
        scheduled = false; // closed
      }
    }
  }

  private void serve() {
    try {
      List<Demand> demands = begin();
      if (!demands.isEmpty()) {
        lease(demands);
      }
    } finally {
      synchronized (this) {
        serving = false;
        scheduled = false;
      }
      schedule();
    }
  }

  private synchronized List<Demand> begin() {
    serving = true;
    if (allPending) {
      pending.addAll(lines.keySet());
      allPending = false;
    }
    List<Demand> demands = new ArrayList<>(pending.size());
    for (TimerKey queue : pending) {
      Line line = lines.get(queue);
      if (line != null) {
        demands.add(demand(queue, line));
      }
    }
    pending.clear();
    return demands;
  }

  private Demand demand(TimerKey queue, Line line) {
    List<Waiter> waiters = new ArrayList<>();
    int wanted = 0;
    for (Waiter waiter : line.all) {
      boolean fits =
          waiters.isEmpty()
              || (wanted + waiter.max <= MAX_LEASED
                  && waiter.leaseMillis == waiters.get(0).leaseMillis);
      if (!fits) {
        break;
      }
      waiters.add(waiter);
      wanted += waiter.max;
    }
    return new Demand(queue, waiters, wanted, arrivals);
  }

  /**
   * Leases for all demands in one call. If the store rejects it because of one of them, the call is
   * repeated in halves.
   */
  private void lease(List<Demand> demands) {
    int limit = Math.max(MAX_LEASED, demands.stream().mapToInt(Demand::wanted).max().orElse(0));
    Leased leased;
    try {
      leased = lease(demands, limit);
    } catch (RuntimeException | Error e) {
      boolean storeFails =
          e instanceof StoreException failure && failure.kind() != StoreException.Kind.REJECTED;
      int half = storeFails ? 0 : demands.size() / 2;
      if (half == 0) {
        failed(demands, e);
      } else {
        lease(demands.subList(0, half));
        lease(demands.subList(half, demands.size()));
      }
      return;
    }
    List<Demand> met = new ArrayList<>();
    for (Demand demand : demands) {
      List<ClaimedTimer> claimed = leased.byQueue.getOrDefault(demand.queue, List.of());
      hand(claimed, demand.waiters);
      if (claimed.size() >= demand.wanted || (leased.limitReached && !claimed.isEmpty())) {
        met.add(demand);
      } else if (leased.limitReached) {
        pending(demand.queue); // ahead of the queues that were already served
      } else {
        withoutWait(demand).forEach(QueueConsumers::giveUp);
        askLater(demand.queue, leased.limits.get(demand.queue));
      }
    }
    met.forEach(demand -> pending(demand.queue));
  }

  /**
   * Makes a queue pending again after a wait, because no notification announces that its limit
   * admits more claims.
   */
  private void askLater(TimerKey queue, @Nullable SharedLimit limit) {
    if (limit == null) {
      return;
    }
    synchronized (this) {
      if (closed || !lines.containsKey(queue) || !delayed.add(queue)) {
        return;
      }
    }
    Duration wait = Duration.ofMillis(Math.min(LIMIT_MILLIS, limit.waitMillis(0)));
    try {
      context
          .delays()
          .start(
              () -> {
                synchronized (this) {
                  delayed.remove(queue);
                }
                ready(queue.namespace(), queue.id());
              },
              wait);
    } catch (IllegalStateException e) {
      LOG.log(System.Logger.Level.DEBUG, "stopped while a limit was reached", e);
    }
  }

  private synchronized void pending(TimerKey queue) {
    if (lines.containsKey(queue)) {
      pending.add(queue);
    }
  }

  /**
   * The leased timers.
   *
   * @param limits the limits that applied, of the queues that have one
   * @param limitReached true if there may be more, because the store ended the list at its size
   *     limit
   */
  private record Leased(
      Map<TimerKey, List<ClaimedTimer>> byQueue,
      Map<TimerKey, SharedLimit> limits,
      boolean limitReached) {}

  private Leased lease(List<Demand> demands, int limit) {
    long nowMillis = context.nowMillis();
    long pausesBefore = context.pauseGate().pauses();
    List<LeaseRequest> requests = new ArrayList<>(demands.size());
    Map<TimerKey, SharedLimit> applied = new HashMap<>();
    for (Demand demand : demands) {
      SharedLimit ofQueue = limits.apply(demand.queue);
      if (ofQueue != null) {
        applied.put(demand.queue, ofQueue);
      }
      requests.add(
          new LeaseRequest(
              demand.queue.namespace(),
              demand.queue.id(),
              demand.wanted,
              EpochMillis.saturatedAdd(nowMillis, demand.first().leaseMillis),
              ofQueue));
    }
    Map<TimerKey, List<ClaimedTimer>> leased = new HashMap<>();
    List<TimerRecord> records = context.store().lease(requests, limit, nowMillis, tokens::next);
    long bytes = 0;
    for (TimerRecord record : records) {
      bytes += PageBuilder.bytes(record, true);
      observer.accept(record);
      TimerKey queue = new TimerKey(record.key().namespace(), record.definition().handler());
      leased
          .computeIfAbsent(queue, same -> new ArrayList<>())
          .add(
              new ClaimedTimer(
                  queue,
                  new AttemptFiring(record, nowMillis, context.policy().isCatchUp(record)),
                  requireNonNull(record.claim(), "claim"),
                  pausesBefore));
    }
    return new Leased(leased, applied, records.size() >= limit || bytes >= PageBuilder.MAX_BYTES);
  }

  /**
   * Gives each claim its share. The share of an abandoned claim goes to the next one. The last
   * claims continue to wait if no timers are left.
   */
  private void hand(List<ClaimedTimer> claimed, List<Waiter> line) {
    int from = 0;
    for (Waiter waiter : line) {
      int to = Math.min(from + waiter.max, claimed.size());
      if (from == to) {
        return;
      }
      if (waiter.future.complete(List.copyOf(claimed.subList(from, to)))) {
        from = to;
      }
    }
    giveBack(claimed.subList(from, claimed.size()));
  }

  /**
   * Fails the claims without a wait. If another try cannot succeed, also fails the first claim of
   * each queue. The others continue to wait.
   */
  private void failed(List<Demand> demands, Throwable cause) {
    DurableTimerException failure =
        new DurableTimerException(
            cause instanceof StoreException known
                ? known.reason()
                : DurableTimerException.Reason.UNKNOWN,
            0,
            String.valueOf(cause.getMessage()),
            cause);
    boolean isTransient =
        cause instanceof StoreException known && known.kind() == StoreException.Kind.TRANSIENT;
    for (Demand demand : demands) {
      if (!isTransient) {
        demand.first().future.completeExceptionally(failure);
      }
      withoutWait(demand).forEach(waiter -> waiter.future.completeExceptionally(failure));
    }
    synchronized (this) {
      if (retrying) {
        return;
      }
      retrying = true;
    }
    try {
      context.delays().start(this::retry, RETRY);
    } catch (IllegalStateException e) {
      LOG.log(System.Logger.Level.DEBUG, "stopped after a failed step of the consumers", e);
    }
  }

  private void retry() {
    synchronized (this) {
      retrying = false;
    }
    sweep();
  }

  /** Returns the claims without a wait that arrived before the demand was computed. */
  private synchronized List<Waiter> withoutWait(Demand demand) {
    Line line = lines.get(demand.queue);
    return line == null
        ? List.of()
        : line.withoutWait.stream().takeWhile(waiter -> waiter.arrival < demand.arrivals).toList();
  }

  private synchronized void remove(Waiter waiter) {
    Line line = lines.get(waiter.queue);
    if (line != null && line.all.remove(waiter)) {
      line.withoutWait.remove(waiter);
      if (line.all.isEmpty()) {
        lines.remove(waiter.queue);
      }
    }
    if (waiter.timeout != null) {
      waiter.timeout.cancel();
    }
  }

  private static void giveUp(Waiter waiter) {
    waiter.future.complete(List.of());
  }

  /** Gives back timers that no consumer has taken. The attempt does not count. */
  public void giveBack(List<ClaimedTimer> claimed) {
    claimed.forEach(this::giveBack);
  }

  private void giveBack(ClaimedTimer timer) {
    context
        .committer()
        .submitOwn(
            new Change.Finish(
                timer.firing().key(),
                timer.claim().token(),
                ConsumerEnds.NO_EPOCH,
                Change.Finish.End.GIVEN_BACK,
                context.nowMillis(),
                null,
                context.nowMillis()),
            outcome -> {});
  }

  /** Returns the number of claims that wait for each queue at this node. */
  public synchronized Map<TimerKey, Integer> waiting() {
    Map<TimerKey, Integer> waiting = new HashMap<>();
    lines.forEach((queue, line) -> waiting.put(queue, line.all.size()));
    return waiting;
  }

  /**
   * Returns whether no step is running. A running step may lease timers whose consumers no longer
   * wait.
   */
  public synchronized boolean isIdle() {
    return !serving;
  }

  /** Completes all waiting claims without timers. */
  public void close() {
    List<Waiter> all = new ArrayList<>();
    synchronized (this) {
      closed = true;
      lines.values().forEach(line -> all.addAll(line.all));
    }
    all.forEach(QueueConsumers::giveUp);
  }
}
