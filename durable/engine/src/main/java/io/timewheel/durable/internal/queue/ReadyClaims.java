// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.internal.attempt.Handlers;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.PageBuilder;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerRecord;
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
 * Claims ready timers: of queues for {@linkplain WaitingClaims consumers}, and of other nodes'
 * shards for this node's {@linkplain HandlerClaims handlers}.
 *
 * <p>A source of timers is a queue, or a handler in all namespaces. It is pending if it may have a
 * ready timer, because of a new claim, a free slot, a notification or a sweep. One task serves all
 * pending sources on its own executor. The task does one bounded step. It calls the store once for
 * all of them, and claims at most {@link #MAX_CLAIMED} timers. It submits itself again while a
 * source is pending. So claims delay other work by one step at most, and idle queues and
 * notifications add no tasks or calls. Sources take turns.
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

  /** Stands for all sources. */
  private static final TimerKey ALL = new TimerKey("", "");

  private final AttemptContext context;
  private final StoreTasks tasks;
  private final WaitingClaims waiting;
  private final HandlerClaims handlers;
  private final ClaimTokens tokens = new ClaimTokens();

  /** The sources of the next step, in this order. */
  private final LinkedHashSet<TimerKey> pending = new LinkedHashSet<>();

  /** The sources that become pending again after a wait. */
  private final Set<TimerKey> delayed = new HashSet<>();

  /** True if the next step includes all sources. */
  private boolean allPending;

  private Step step = Step.NONE;
  private boolean closed;

  private enum Step {
    NONE,
    QUEUED,
    RUNNING
  }

  /**
   * @param limits the present limit of a queue, or null
   * @param claimed receives the records that consumers have claimed
   * @param ended receives the records of other nodes' timers whose attempts have ended
   */
  public ReadyClaims(
      AttemptContext context,
      StoreTasks tasks,
      Handlers handlers,
      Function<TimerKey, @Nullable SharedLimit> limits,
      Consumer<TimerRecord> claimed,
      Consumer<TimerRecord> ended) {
    this.context = context;
    this.tasks = tasks;
    waiting = new WaitingClaims(context, limits, claimed);
    this.handlers = new HandlerClaims(context, handlers, ended);
  }

  /**
   * Waits for ready timers of a queue.
   *
   * @return completes with the claimed timers; a caller that completes it earlier stops waiting
   */
  public CompletableFuture<List<ClaimedTimer>> claim(
      String namespace, String queue, int max, Duration lease, Duration wait) {
    TimerKey source = new TimerKey(namespace, queue);
    var claim = waiting.add(source, max, lease, wait);
    ready(source);
    return claim;
  }

  /** Records that a timer of a queue is ready. */
  public void ready(String namespace, String queue) {
    ready(new TimerKey(namespace, queue));
  }

  private void ready(TimerKey queue) {
    if (waiting.contains(queue) && pending(queue)) {
      schedule();
    }
  }

  /** Records that a timer of a handler is ready. */
  public void ready(String handler) {
    if (handlers.knows(handler) && pending(HandlerClaims.source(handler))) {
      schedule();
    }
  }

  /** Records that a slot of a handler is free again. */
  public void freed(String handler) {
    if (handlers.wantsSlot(handler)) {
      ready(handler);
    }
  }

  /** Makes all sources pending, in case a notification was lost. */
  public void sweep() {
    synchronized (this) {
      allPending = true;
    }
    schedule();
  }

  private synchronized boolean pending(TimerKey source) {
    return pending.add(source);
  }

  private void schedule() {
    synchronized (this) {
      allPending &= !waiting.isEmpty() || !handlers.isEmpty();
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

  private List<Demand> begin() {
    Set<TimerKey> sources;
    boolean all;
    synchronized (this) {
      sources = new LinkedHashSet<>(pending);
      pending.clear();
      all = allPending;
      allPending = false;
    }
    if (all) {
      sources.addAll(waiting.queues());
      sources.addAll(handlers.ready());
    }
    List<Demand> demands = new ArrayList<>(sources.size());
    int room = MAX_CLAIMED;
    for (TimerKey source : sources) {
      boolean isHandler = HandlerClaims.isSource(source);
      if (isHandler && room == 0) {
        pending(source);
        continue;
      }
      Demand demand = isHandler ? handlers.demand(source.id(), room) : waiting.demand(source);
      if (demand != null) {
        demands.add(demand);
        room -= isHandler ? demand.wanted() : 0;
      }
    }
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
    for (int i = 0; i < demands.size(); i++) {
      LeaseRequest request = claimed.requests.get(i);
      List<TimerRecord> records = claimed.of(request);
      demands.get(i).claimed(records, claimed.pausesBefore);
      TimerKey source = request.source();
      if (records.size() >= request.max() || (claimed.limitReached && !records.isEmpty())) {
        met.add(source);
      } else if (claimed.limitReached) {
        again(source); // ahead of the sources that were already served
      } else {
        demands.get(i).unmet();
        SharedLimit limit = request.limit();
        if (limit != null) { // no notification announces that it admits more claims
          later(source, Duration.ofMillis(Math.min(LIMIT_MILLIS, limit.waitMillis(0))));
        }
      }
    }
    met.forEach(this::again);
  }

  private void again(TimerKey source) {
    if (HandlerClaims.isSource(source) || waiting.contains(source)) {
      boolean unused = pending(source);
    }
  }

  /**
   * The timers that one call has claimed.
   *
   * @param limitReached true if there may be more, because the store ended the list at a limit
   * @param pausesBefore the number of pauses before the call
   */
  private record Claimed(
      List<LeaseRequest> requests,
      Map<TimerKey, List<TimerRecord>> bySource,
      boolean limitReached,
      long pausesBefore) {
    List<TimerRecord> of(LeaseRequest request) {
      return bySource.getOrDefault(request.source(), List.of());
    }
  }

  private Claimed call(List<Demand> demands) {
    long pausesBefore = context.pauseGate().pauses();
    List<LeaseRequest> requests = new ArrayList<>(demands.size());
    int limit = MAX_CLAIMED;
    for (Demand demand : demands) {
      requests.add(demand.request());
      limit = Math.max(limit, demand.wanted());
    }
    List<TimerRecord> records =
        context.store().lease(requests, limit, context.nowMillis(), tokens::next);
    Map<TimerKey, List<TimerRecord>> bySource = new HashMap<>();
    long bytes = 0;
    for (TimerRecord record : records) {
      bytes += PageBuilder.bytes(record, true);
      bySource.computeIfAbsent(LeaseRequest.source(record), same -> new ArrayList<>()).add(record);
    }
    boolean limitReached = records.size() >= limit || bytes >= PageBuilder.MAX_BYTES;
    return new Claimed(requests, bySource, limitReached, pausesBefore);
  }

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
    demands.forEach(demand -> demand.failed(failure, isTransient));
    later(ALL, RETRY);
  }

  /** Makes a source pending again after a wait. */
  private void later(TimerKey source, Duration wait) {
    synchronized (this) {
      if (closed || !delayed.add(source)) {
        return;
      }
    }
    try {
      context.delays().start(() -> waited(source), wait);
    } catch (IllegalStateException e) {
      LOG.log(System.Logger.Level.DEBUG, "stopped while claims waited", e);
    }
  }

  private void waited(TimerKey source) {
    synchronized (this) {
      delayed.remove(source);
    }
    if (source.equals(ALL)) {
      sweep();
    } else {
      ready(source);
    }
  }

  /** Gives back timers that no consumer has taken. The attempt does not count. */
  public void giveBack(List<ClaimedTimer> claimed) {
    waiting.giveBack(claimed);
  }

  /** Returns the number of claims that wait for each queue at this node. */
  public Map<TimerKey, Integer> waiting() {
    return waiting.counts();
  }

  /** Extends the claim leases of attempts that have not ended. */
  public void tick() {
    handlers.tick();
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
