// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timeout;
import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.internal.attempt.AttemptFiring;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
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
 * The claims of consumers that wait for ready timers. Within a queue, claims are served in the
 * order of their arrival. Thread-safe.
 */
final class WaitingClaims {
  /** The largest number of timers that several claims of a queue request together. */
  private static final int MAX_TOGETHER = 256;

  private final AttemptContext context;
  private final Function<TimerKey, @Nullable SharedLimit> limits;
  private final Consumer<TimerRecord> observer;

  /** The queues with waiting claims. */
  private final Map<TimerKey, Line> lines = new LinkedHashMap<>();

  private boolean closed;

  WaitingClaims(
      AttemptContext context,
      Function<TimerKey, @Nullable SharedLimit> limits,
      Consumer<TimerRecord> observer) {
    this.context = context;
    this.limits = limits;
    this.observer = observer;
  }

  /** A waiting claim. */
  private static final class Waiter extends CompletableFuture<List<ClaimedTimer>> {
    final int max;
    final long leaseMillis;

    Waiter(int max, Duration lease) {
      this.max = max;
      leaseMillis = EpochMillis.ceil(lease);
    }

    void giveUp() {
      complete(List.of());
    }
  }

  /** The waiting claims of a queue, in the order of their arrival. */
  private static final class Line {
    final LinkedHashSet<Waiter> all = new LinkedHashSet<>();

    /** The claims without a wait. They complete as soon as the queue has no ready timers. */
    final LinkedHashSet<Waiter> withoutWait = new LinkedHashSet<>();
  }

  /** Adds a claim. It completes with timers, or empty at the end of its wait. */
  CompletableFuture<List<ClaimedTimer>> add(
      TimerKey queue, int max, Duration lease, Duration wait) {
    Waiter waiter = new Waiter(max, lease);
    synchronized (this) {
      if (closed) {
        waiter.giveUp();
        return waiter;
      }
      Line line = lines.computeIfAbsent(queue, key -> new Line());
      line.all.add(waiter);
      if (wait.isZero()) {
        line.withoutWait.add(waiter);
      }
    }
    var unused = waiter.whenComplete((claimed, error) -> remove(queue, waiter));
    if (!wait.isZero()) {
      Timeout timeout = context.delays().start(waiter::giveUp, wait);
      if (timeout != null) {
        var unusedToo = waiter.whenComplete((claimed, error) -> timeout.cancel());
      }
    }
    return waiter;
  }

  private synchronized void remove(TimerKey queue, Waiter waiter) {
    Line line = lines.get(queue);
    if (line != null && line.all.remove(waiter)) {
      line.withoutWait.remove(waiter);
      if (line.all.isEmpty()) {
        lines.remove(queue);
      }
    }
  }

  synchronized boolean contains(TimerKey queue) {
    return lines.containsKey(queue);
  }

  synchronized boolean isEmpty() {
    return lines.isEmpty();
  }

  synchronized Set<TimerKey> queues() {
    return new LinkedHashSet<>(lines.keySet());
  }

  /** Returns the number of waiting claims of each queue. */
  synchronized Map<TimerKey, Integer> counts() {
    Map<TimerKey, Integer> counts = new HashMap<>();
    lines.forEach((queue, line) -> counts.put(queue, line.all.size()));
    return counts;
  }

  /** Returns the demand of the first claims with equal lease durations; null if none waits. */
  synchronized @Nullable Demand demand(TimerKey queue) {
    Line line = lines.get(queue);
    if (line == null) {
      return null;
    }
    List<Waiter> first = new ArrayList<>();
    int wanted = 0;
    for (Waiter waiter : line.all) {
      boolean fits =
          first.isEmpty()
              || (wanted + waiter.max <= MAX_TOGETHER
                  && waiter.leaseMillis == first.get(0).leaseMillis);
      if (!fits) {
        break;
      }
      first.add(waiter);
      wanted += waiter.max;
    }
    return new QueueDemand(queue, first, wanted, List.copyOf(line.withoutWait));
  }

  /** The demand of the first claims of a queue. */
  private final class QueueDemand implements Demand {
    private final TimerKey queue;
    private final List<Waiter> first;
    private final int wanted;
    private final List<Waiter> withoutWait;
    private final long nowMillis = context.nowMillis();

    QueueDemand(TimerKey queue, List<Waiter> first, int wanted, List<Waiter> withoutWait) {
      this.queue = queue;
      this.first = first;
      this.wanted = wanted;
      this.withoutWait = withoutWait;
    }

    @Override
    public int wanted() {
      return wanted;
    }

    @Override
    public LeaseRequest request() {
      long untilMillis = EpochMillis.saturatedAdd(nowMillis, first.get(0).leaseMillis);
      return new LeaseRequest(
          queue.namespace(), queue.id(), wanted, untilMillis, limits.apply(queue));
    }

    /**
     * Gives each claim its share. The share of an abandoned claim goes to the next one. The last
     * claims continue to wait if no timers are left.
     */
    @Override
    public void claimed(List<TimerRecord> records, long pausesBefore) {
      records.forEach(observer);
      List<ClaimedTimer> claimed =
          records.stream().map(record -> claimed(record, pausesBefore)).toList();
      int from = 0;
      for (Waiter waiter : first) {
        int to = Math.min(from + waiter.max, claimed.size());
        if (from == to) {
          return;
        }
        if (waiter.complete(claimed.subList(from, to))) {
          from = to;
        }
      }
      giveBack(claimed.subList(from, claimed.size()));
    }

    private ClaimedTimer claimed(TimerRecord record, long pausesBefore) {
      return new ClaimedTimer(
          queue,
          new AttemptFiring(record, nowMillis, context.policy().isCatchUp(record)),
          requireNonNull(record.claim(), "claim"),
          pausesBefore);
    }

    @Override
    public void unmet() {
      withoutWait.forEach(Waiter::giveUp);
    }

    /** If another try cannot succeed, fails the first claim. The others continue to wait. */
    @Override
    public void failed(DurableTimerException failure, boolean isTransient) {
      if (!isTransient) {
        first.get(0).completeExceptionally(failure);
      }
      withoutWait.forEach(waiter -> waiter.completeExceptionally(failure));
    }
  }

  /** Gives back timers that no consumer has taken. The attempt does not count. */
  void giveBack(List<ClaimedTimer> claimed) {
    for (ClaimedTimer timer : claimed) {
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
  }

  /** Completes all claims without timers. */
  void close() {
    List<Waiter> all = new ArrayList<>();
    synchronized (this) {
      closed = true;
      lines.values().forEach(line -> all.addAll(line.all));
    }
    all.forEach(Waiter::giveUp);
  }
}
