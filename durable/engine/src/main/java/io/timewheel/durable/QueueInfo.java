// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.TimerStore;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The state of a queue.
 *
 * @param namespace the namespace of the queue
 * @param name the name of the queue
 * @param ready the number of due timers that no consumer has claimed
 * @param oldestReadyAt the time at which the longest ready timer became ready; empty if none is
 *     ready
 * @param running the number of timers that consumers have claimed
 * @param waitingClaims the number of claims that wait at this node
 * @param paused true if the queue, its namespace or everything is paused, so that claims get no
 *     timers
 */
public record QueueInfo(
    String namespace,
    String name,
    long ready,
    Optional<Instant> oldestReadyAt,
    long running,
    int waitingClaims,
    boolean paused) {
  /**
   * Checks that no component is null.
   *
   * @param namespace the namespace of the queue
   * @param name the name of the queue
   * @param ready the number of due timers that no consumer has claimed
   * @param oldestReadyAt the time at which the longest ready timer became ready; empty if none is
   *     ready
   * @param running the number of timers that consumers have claimed
   * @param waitingClaims the number of claims that wait at this node
   * @param paused true if claims get no timers
   */
  public QueueInfo {
    requireNonNull(namespace, "namespace");
    requireNonNull(name, "name");
    requireNonNull(oldestReadyAt, "oldestReadyAt");
  }

  /** Lists the queues that have unfinished timers or waiting claims, or are paused. */
  static List<QueueInfo> list(
      TimerStore store,
      Map<TimerKey, Integer> waiting,
      @Nullable String namespace,
      @Nullable TimerKey after,
      int limit) {
    Map<TimerKey, Map<TimerState, Long>> counts = store.queueCounts(namespace);
    Set<String> paused = store.paused();
    NavigableSet<TimerKey> names = new TreeSet<>(counts.keySet());
    names.addAll(waiting.keySet());
    paused.stream().filter(Scopes::isQueue).map(Scopes::queueOf).forEach(names::add);
    if (namespace != null) {
      names.removeIf(queue -> !queue.namespace().equals(namespace));
    }
    return of(
        store,
        waiting,
        counts,
        paused,
        (after == null ? names : names.tailSet(after, false)).stream().limit(limit).toList());
  }

  static QueueInfo of(TimerStore store, Map<TimerKey, Integer> waiting, TimerKey queue) {
    return of(store, waiting, store.queueCounts(queue.namespace()), store.paused(), List.of(queue))
        .get(0);
  }

  private static List<QueueInfo> of(
      TimerStore store,
      Map<TimerKey, Integer> waiting,
      Map<TimerKey, Map<TimerState, Long>> counts,
      Set<String> paused,
      List<TimerKey> queues) {
    Map<TimerKey, Long> since =
        store.readySince(
            queues.stream().filter(queue -> count(counts, queue, TimerState.READY) > 0).toList());
    return queues.stream()
        .map(
            queue ->
                new QueueInfo(
                    queue.namespace(),
                    queue.id(),
                    count(counts, queue, TimerState.READY),
                    Optional.ofNullable(since.get(queue)).map(Instant::ofEpochMilli),
                    count(counts, queue, TimerState.RUNNING),
                    waiting.getOrDefault(queue, 0),
                    Scopes.isQueuePaused(paused, queue.namespace(), queue.id())))
        .toList();
  }

  private static long count(
      Map<TimerKey, Map<TimerState, Long>> counts, TimerKey queue, TimerState state) {
    return counts.getOrDefault(queue, Map.of()).getOrDefault(state, 0L);
  }
}
