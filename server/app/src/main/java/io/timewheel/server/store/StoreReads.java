// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.store;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Scope;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The timer that is served, and the reads of its store by requests. A limited number of reads runs
 * at a time, and others wait. Each read uses a connection of a pool. Without this limit, readers
 * could take all connections, and a node without a connection loses its node lease. The engine does
 * not use this class, so due timers never wait for readers.
 */
public final class StoreReads {
  /** The latest time of the engine: the year 292,278,994. */
  public static final Instant END_OF_TIME = Instant.ofEpochMilli(Long.MAX_VALUE - 1);

  public static final Instant BEGIN_OF_TIME = Instant.ofEpochMilli(Long.MIN_VALUE + 1);

  private volatile @Nullable Served served;

  private record Served(DurableTimer timer, Semaphore permits) {}

  /** Sets the timer, and the number of concurrent reads. */
  public void serve(DurableTimer timer, int atATime) {
    served = new Served(requireNonNull(timer, "timer"), new Semaphore(atATime, true));
  }

  public boolean isServing() {
    return served != null;
  }

  /** {@return the approximate number of waiting reads} */
  public int waiting() {
    return served().permits.getQueueLength();
  }

  /** {@return the timer, for calls that do not read its store} */
  public DurableTimer timer() {
    return served().timer;
  }

  private Served served() {
    Served present = served;
    if (present == null) {
      throw Problem.unavailable("the store is still opening").failure();
    }
    return present;
  }

  public Optional<TimerInfo> get(TimerKey key) {
    return ask(timer -> timer.timer(key.namespace(), key.id()).get());
  }

  /**
   * Runs a read when it is its turn.
   *
   * @param question one read; a nested read could wait for itself
   */
  public <T> T ask(Function<DurableTimer, T> question) {
    Served present = served();
    present.permits.acquireUninterruptibly();
    try {
      return question.apply(present.timer);
    } finally {
      present.permits.release();
    }
  }

  /** {@return the number of timers of a scope in each state} */
  public Map<TimerState, Long> states(Scope scope) {
    Map<TimerState, Long> states = new EnumMap<>(TimerState.class);
    for (var counts : scope.of(ask(DurableTimer::counts)).values()) {
      counts.forEach((state, count) -> states.merge(state, count, Long::sum));
    }
    return states;
  }

  /** {@return the number of unfinished timers of a scope that are due in each part of a span} */
  public long[] histogram(Scope scope, Instant from, Instant to, int buckets) {
    Set<String> namespaces = scope.namespaces();
    if (namespaces == null) {
      return ask(timer -> timer.allNamespaces().histogram(from, to, buckets));
    }
    long[] sums = new long[buckets];
    for (String namespace : namespaces) {
      long[] counts = ask(timer -> timer.namespace(namespace).histogram(from, to, buckets));
      for (int i = 0; i < buckets; i++) {
        sums[i] += counts[i];
      }
    }
    return sums;
  }
}
