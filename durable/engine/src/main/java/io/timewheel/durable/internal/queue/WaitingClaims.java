// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import io.timewheel.Timeout;
import io.timewheel.durable.internal.commit.Delays;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.TimerKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The claims of consumers that wait for ready timers. Within a queue, claims are served in the
 * order of their arrival. Thread-safe.
 */
final class WaitingClaims {
  /** The largest number of timers that several claims of a queue request together. */
  private static final int MAX_TOGETHER = 256;

  private final Delays delays;

  /** The queues with waiting claims. */
  private final Map<TimerKey, Line> lines = new LinkedHashMap<>();

  private boolean closed;

  WaitingClaims(Delays delays) {
    this.delays = delays;
  }

  /** A waiting claim. */
  static final class Waiter extends CompletableFuture<List<ClaimedTimer>> {
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
      Timeout timeout = delays.start(waiter::giveUp, wait);
      if (timeout != null) {
        var unusedEnd = waiter.whenComplete((claimed, error) -> timeout.cancel());
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

  /**
   * The first claims of a queue with equal lease durations.
   *
   * @param wanted the number of timers that they request together
   * @param withoutWait all claims of the queue without a wait
   */
  record Demand(TimerKey queue, List<Waiter> first, int wanted, List<Waiter> withoutWait) {}

  /** Returns the demand of a queue; null if no claim waits. */
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
    return new Demand(queue, first, wanted, List.copyOf(line.withoutWait));
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
