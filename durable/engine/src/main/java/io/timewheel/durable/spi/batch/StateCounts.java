// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.batch;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Counts the timers of each namespace and queue by state. A delta has negative counts, too. */
public final class StateCounts {
  /** The counts of each scope. None is zero, and no map is empty. */
  private final Map<String, Map<TimerState, Long>> scopes = new HashMap<>();

  /** Creates empty counts. */
  public StateCounts() {}

  /**
   * Counts records.
   *
   * @param records the records
   * @return new counts
   */
  public static StateCounts of(Collection<TimerRecord> records) {
    StateCounts counts = new StateCounts();
    records.forEach(record -> counts.add(record, 1));
    return counts;
  }

  /**
   * Contains one count.
   *
   * @param scope the namespace or queue
   * @param state the state
   * @param number the number of timers
   */
  public record Count(String scope, TimerState state, long number) {}

  /** {@return all counts as a list} */
  public List<Count> toList() {
    List<Count> list = new ArrayList<>();
    scopes.forEach(
        (scope, counts) ->
            counts.forEach((state, number) -> list.add(new Count(scope, state, number))));
    return list;
  }

  /**
   * Adds a record to the counts of its scopes.
   *
   * @param record the record
   * @param sign 1, or -1 to subtract it
   */
  public void add(TimerRecord record, long sign) {
    for (String scope : Scopes.counting(record)) {
      add(scope, record.state(), sign);
    }
  }

  /**
   * Adds other counts.
   *
   * @param other the counts to add
   */
  public void add(StateCounts other) {
    other.scopes.forEach(
        (scope, counts) -> counts.forEach((state, number) -> add(scope, state, number)));
  }

  /**
   * Adds to one count.
   *
   * @param scope the namespace or queue
   * @param state the state
   * @param number the number of timers
   */
  public void add(String scope, TimerState state, long number) {
    Map<TimerState, Long> counts =
        scopes.computeIfAbsent(scope, same -> new EnumMap<>(TimerState.class));
    if (counts.merge(state, number, Long::sum) == 0) {
      counts.remove(state);
      if (counts.isEmpty()) {
        scopes.remove(scope);
      }
    }
  }

  /**
   * Returns the counts of a scope, without zeros.
   *
   * @param scope the namespace or queue
   * @return the number of timers in each state; do not change it
   */
  public Map<TimerState, Long> of(String scope) {
    return scopes.getOrDefault(scope, Map.of());
  }

  /**
   * Returns one count.
   *
   * @param scope the namespace or queue
   * @param state the state
   * @return the number of timers
   */
  public long of(String scope, TimerState state) {
    return of(scope).getOrDefault(state, 0L);
  }

  /**
   * Counts the unfinished timers of a scope.
   *
   * @param scope the namespace or queue
   * @return their number
   */
  public long unfinished(String scope) {
    long unfinished = 0;
    for (Map.Entry<TimerState, Long> count : of(scope).entrySet()) {
      unfinished += count.getKey().isFinished() ? 0 : count.getValue();
    }
    return unfinished;
  }

  /** {@return the scopes with a count that is not zero} */
  public Set<String> scopes() {
    return Collections.unmodifiableSet(scopes.keySet());
  }

  /**
   * Counts the finished timers of all namespaces.
   *
   * @return their number
   */
  public long finished() {
    return toList().stream()
        .filter(count -> count.state().isFinished())
        .mapToLong(Count::number)
        .sum();
  }

  /** {@return the counts of the namespaces} */
  public Map<String, Map<TimerState, Long>> namespaces() {
    Map<String, Map<TimerState, Long>> namespaces = new HashMap<>();
    scopes.forEach(
        (scope, counts) -> {
          if (!Scopes.isQueue(scope)) {
            namespaces.put(scope, Map.copyOf(counts));
          }
        });
    return namespaces;
  }

  /**
   * Returns the counts of the queues.
   *
   * @param namespace the namespace of the queues; null for all
   * @return a new map
   */
  public Map<TimerKey, Map<TimerState, Long>> queues(@Nullable String namespace) {
    Map<TimerKey, Map<TimerState, Long>> queues = new HashMap<>();
    scopes.forEach(
        (scope, counts) -> {
          if (Scopes.isQueue(scope)) {
            TimerKey queue = Scopes.queueOf(scope);
            if (namespace == null || namespace.equals(queue.namespace())) {
              queues.put(queue, Map.copyOf(counts));
            }
          }
        });
    return queues;
  }

  /** {@return true if there is no count} */
  public boolean isEmpty() {
    return scopes.isEmpty();
  }

  /** Sets all counts to zero. */
  public void clear() {
    scopes.clear();
  }
}
