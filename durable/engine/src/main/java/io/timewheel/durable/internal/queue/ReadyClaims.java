// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.internal.attempt.AttemptFiring;
import io.timewheel.durable.internal.attempt.OpenClaim;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.queue.WaitingClaims.Demand;
import io.timewheel.durable.internal.queue.WaitingClaims.Waiter;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.PageBuilder;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Claims ready timers for the claims that wait for them: those of consumers, and those of {@link
 * HandlerClaims}, whose queue is a handler in all namespaces.
 *
 * <p>A queue with waiting claims is pending if it may have a ready timer, because of a new claim, a
 * notification or a sweep. One task serves all pending queues on its own executor. The task does
 * one bounded step. It calls the store once for all of them, and claims at most {@link
 * #MAX_CLAIMED} timers. It submits itself again while a queue is pending. So claims delay other
 * work by one step at most, and idle queues and notifications add no tasks or calls. Queues take
 * turns.
 */
public final class ReadyClaims {
  private static final System.Logger LOG = GuardedLog.LOG;

  /** The largest number of timers that one step claims, unless a single claim requests more. */
  private static final int MAX_CLAIMED = 256;

  /**
   * The time from a failed step to the next one, unless a claim or notification arrives earlier.
   */
  private static final Duration RETRY = Duration.ofSeconds(1);

  /** The longest wait after a limit was reached, in milliseconds. */
  private static final long LIMIT_MILLIS = 100;

  /** Stands for all queues. */
  private static final TimerKey ALL = new TimerKey("", "");

  private final AttemptContext context;
  private final StoreTasks tasks;
  private final Consumer<TimerRecord> observer;
  private final Function<TimerKey, @Nullable SharedLimit> limits;
  private final WaitingClaims waiting;
  private final ClaimTokens tokens = new ClaimTokens();

  /** The queues of the next step, in this order. */
  private final LinkedHashSet<TimerKey> pending = new LinkedHashSet<>();

  /** The queues that become pending again after a wait. */
  private final Set<TimerKey> delayed = new HashSet<>();

  /** True if the next step includes all queues. */
  private boolean allPending;

  private Step step = Step.NONE;
  private boolean closed;

  private enum Step {
    NONE,
    QUEUED,
    RUNNING
  }

  /**
   * @param observer receives the claimed records
   * @param limits the present limit of a queue, or null
   */
  public ReadyClaims(
      AttemptContext context,
      StoreTasks tasks,
      Consumer<TimerRecord> observer,
      Function<TimerKey, @Nullable SharedLimit> limits) {
    this.context = context;
    this.tasks = tasks;
    this.observer = observer;
    this.limits = limits;
    waiting = new WaitingClaims(context.delays());
  }

  /**
   * Waits for ready timers of a queue.
   *
   * @return completes with the claimed timers; a caller that completes it earlier stops waiting
   */
  public CompletableFuture<List<ClaimedTimer>> claim(
      String namespace, String queue, int max, Duration lease, Duration wait) {
    TimerKey key = new TimerKey(namespace, queue);
    var claim = waiting.add(key, max, lease, wait);
    ready(key);
    return claim;
  }

  /** Records that a timer of a queue is ready. */
  public void ready(String namespace, String queue) {
    ready(new TimerKey(namespace, queue));
  }

  private void ready(TimerKey queue) {
    if (pending(queue)) {
      schedule();
    }
  }

  /** Makes all queues pending, in case a notification was lost. */
  public void sweep() {
    synchronized (this) {
      allPending = true;
    }
    schedule();
  }

  /**
   * Makes a queue pending if it has waiting claims. Returns false if it has none or was pending.
   */
  private synchronized boolean pending(TimerKey queue) {
    return waiting.contains(queue) && pending.add(queue);
  }

  private void schedule() {
    synchronized (this) {
      allPending &= !waiting.isEmpty();
      if (closed || step != Step.NONE || (pending.isEmpty() && !allPending)) {
        return;
      }
      step = Step.QUEUED;
    }
    if (!tasks.claim(this::step)) {
      step(Step.NONE); // closed
    }
  }

  private synchronized void step(Step next) {
    step = next;
  }

  private void step() {
    step(Step.RUNNING);
    try {
      List<Demand> demands = begin();
      if (!demands.isEmpty()) {
        claim(demands);
      }
    } finally {
      step(Step.NONE);
      schedule();
    }
  }

  private synchronized List<Demand> begin() {
    if (allPending) {
      pending.addAll(waiting.queues());
      allPending = false;
    }
    List<Demand> demands = new ArrayList<>(pending.size());
    for (TimerKey queue : pending) {
      Demand demand = waiting.demand(queue);
      if (demand != null) {
        demands.add(demand);
      }
    }
    pending.clear();
    return demands;
  }

  /**
   * Claims for all demands in one call. If the store rejects it because of one of them, the call is
   * repeated in halves.
   */
  private void claim(List<Demand> demands) {
    Claimed claimed;
    try {
      claimed = call(demands);
    } catch (RuntimeException | Error e) {
      boolean storeFails =
          e instanceof StoreException failure && failure.kind() != StoreException.Kind.REJECTED;
      int half = storeFails ? 0 : demands.size() / 2;
      if (half == 0) {
        failed(demands, e);
      } else {
        claim(demands.subList(0, half));
        claim(demands.subList(half, demands.size()));
      }
      return;
    }
    List<TimerKey> met = new ArrayList<>();
    for (Demand demand : demands) {
      List<ClaimedTimer> timers = claimed.byQueue.getOrDefault(demand.queue(), List.of());
      hand(timers, demand.first());
      if (timers.size() >= demand.wanted() || (claimed.limitReached && !timers.isEmpty())) {
        met.add(demand.queue());
      } else if (claimed.limitReached) {
        boolean unused = pending(demand.queue()); // ahead of those that were already served
      } else {
        demand.withoutWait().forEach(Waiter::giveUp);
        SharedLimit limit = claimed.limits.get(demand.queue());
        if (limit != null) { // no notification announces that it admits more claims
          later(demand.queue(), Duration.ofMillis(Math.min(LIMIT_MILLIS, limit.waitMillis(0))));
        }
      }
    }
    met.forEach(this::pending);
  }

  /**
   * The timers that one call has claimed.
   *
   * @param limits the limits that applied, of the queues that have one
   * @param limitReached true if there may be more, because the store ended the list at its size
   *     limit
   */
  private record Claimed(
      Map<TimerKey, List<ClaimedTimer>> byQueue,
      Map<TimerKey, SharedLimit> limits,
      boolean limitReached) {}

  private Claimed call(List<Demand> demands) {
    long nowMillis = context.nowMillis();
    long pausesBefore = context.pauseGate().pauses();
    List<LeaseRequest> requests = new ArrayList<>(demands.size());
    Map<TimerKey, SharedLimit> applied = new HashMap<>();
    int most = MAX_CLAIMED;
    for (Demand demand : demands) {
      TimerKey queue = demand.queue();
      SharedLimit limit = HandlerClaims.isQueue(queue) ? null : limits.apply(queue);
      if (limit != null) {
        applied.put(queue, limit);
      }
      long untilMillis = EpochMillis.saturatedAdd(nowMillis, demand.first().get(0).leaseMillis);
      requests.add(
          new LeaseRequest(queue.namespace(), queue.id(), demand.wanted(), untilMillis, limit));
      most = Math.max(most, demand.wanted());
    }
    Map<TimerKey, List<ClaimedTimer>> byQueue = new HashMap<>();
    List<TimerRecord> records = context.store().lease(requests, most, nowMillis, tokens::next);
    long bytes = 0;
    for (TimerRecord record : records) {
      bytes += PageBuilder.bytes(record, true);
      observer.accept(record);
      TimerKey queue = LeaseRequest.source(record);
      byQueue
          .computeIfAbsent(queue, same -> new ArrayList<>())
          .add(
              new ClaimedTimer(
                  queue,
                  record,
                  new AttemptFiring(record, nowMillis, context.policy().isCatchUp(record)),
                  requireNonNull(record.claim(), "claim"),
                  pausesBefore));
    }
    return new Claimed(byQueue, applied, records.size() >= most || bytes >= PageBuilder.MAX_BYTES);
  }

  /**
   * Gives each claim its share. The share of an abandoned claim goes to the next one. The last
   * claims continue to wait if no timers are left.
   */
  private void hand(List<ClaimedTimer> claimed, List<Waiter> waiters) {
    int from = 0;
    for (Waiter waiter : waiters) {
      int to = Math.min(from + waiter.max, claimed.size());
      if (from == to) {
        return;
      }
      if (waiter.complete(List.copyOf(claimed.subList(from, to)))) {
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
        demand.first().get(0).completeExceptionally(failure);
      }
      demand.withoutWait().forEach(waiter -> waiter.completeExceptionally(failure));
    }
    later(ALL, RETRY);
  }

  /** Makes a queue pending again after a wait. */
  private void later(TimerKey queue, Duration wait) {
    synchronized (this) {
      if (closed || !delayed.add(queue)) {
        return;
      }
    }
    try {
      context.delays().start(() -> waited(queue), wait);
    } catch (IllegalStateException e) {
      LOG.log(System.Logger.Level.DEBUG, "stopped while claims waited", e);
    }
  }

  private void waited(TimerKey queue) {
    synchronized (this) {
      delayed.remove(queue);
    }
    if (queue.equals(ALL)) {
      sweep();
    } else {
      ready(queue);
    }
  }

  /** Gives back timers that no consumer has taken. The attempt does not count. */
  public void giveBack(List<ClaimedTimer> claimed) {
    for (ClaimedTimer timer : claimed) {
      context
          .committer()
          .submitOwn(
              new Change.Finish(
                  timer.record().key(),
                  timer.claim().token(),
                  OpenClaim.NO_EPOCH,
                  Change.Finish.End.GIVEN_BACK,
                  context.nowMillis(),
                  null,
                  context.nowMillis()),
              outcome -> {});
    }
  }

  /** Returns the number of claims that wait for each queue at this node. */
  public Map<TimerKey, Integer> waiting() {
    Map<TimerKey, Integer> counts = waiting.counts();
    counts.keySet().removeIf(HandlerClaims::isQueue);
    return counts;
  }

  /**
   * Returns whether no step is running. A running step may claim timers whose consumers no longer
   * wait.
   */
  public synchronized boolean isIdle() {
    return step != Step.RUNNING;
  }

  /** Stops claiming. Completes all waiting claims without timers. */
  public void close() {
    synchronized (this) {
      closed = true;
    }
    waiting.close();
  }
}
