// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import io.timewheel.durable.jdbc.internal.server.RequestRows;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.RequestAnswer;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.Transitions;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Provides the versions, pauses and counters on which the changes of a write batch depend. */
final class BatchContext implements Transitions.Context {
  private long lastVersion;
  private Set<String> paused = Set.of();

  /**
   * The counters of other transactions that limits need, plus those already written by this batch.
   */
  private final Map<String, Map<TimerState, Long>> pending = new HashMap<>();

  /** The counters that are not written yet. */
  private final Map<String, Map<TimerState, Long>> counts = new HashMap<>();

  /** The answers of requests that were committed earlier. */
  private Map<RequestRows.Key, RequestAnswer> earlier = Map.of();

  /** The answers of requests among the changes of the current timer, by request ID. */
  private Map<String, RequestAnswer> ofTimer = Map.of();

  /** Begins a try. */
  void begin(long firstVersion) {
    lastVersion = firstVersion - 1;
    pending.clear();
    counts.clear();
  }

  void addPending(Map<String, Map<TimerState, Long>> counted) {
    pending.putAll(counted);
  }

  void paused(Set<String> scopes) {
    paused = scopes;
  }

  void earlier(Map<RequestRows.Key, RequestAnswer> answers) {
    earlier = answers;
  }

  void ofTimer(Map<String, RequestAnswer> answers) {
    ofTimer = answers;
  }

  @Override
  public @Nullable RequestAnswer answer(TimerKey key, String id) {
    RequestAnswer open = ofTimer.get(id);
    return open == null ? earlier.get(new RequestRows.Key(key, id)) : open;
  }

  @Override
  public long nextVersion(long above) {
    lastVersion = Math.max(lastVersion, above) + 1;
    return lastVersion;
  }

  @Override
  public long pending(String namespace) {
    return unfinished(pending.get(namespace)) + unfinished(counts.get(namespace));
  }

  private long unfinished(@Nullable Map<TimerState, Long> states) {
    long unfinished = 0;
    if (states != null) {
      for (Map.Entry<TimerState, Long> state : states.entrySet()) {
        unfinished += state.getKey().isFinished() ? 0 : state.getValue();
      }
    }
    return unfinished;
  }

  @Override
  public boolean paused(String namespace) {
    return TimerStore.isPaused(paused, namespace);
  }

  /** {@return the counters to write} */
  Map<String, Map<TimerState, Long>> counts() {
    return counts;
  }

  /** Records that the counters were written. */
  void countsWritten() {
    counts.forEach(
        (scope, states) -> states.forEach((state, delta) -> count(pending, scope, state, delta)));
    counts.clear();
  }

  /** Counts a step before it is written, because the next one in its namespace may depend on it. */
  void count(BatchedTimer cell, long sign) {
    if (!cell.isChanged()) {
      return;
    }
    if (cell.before != null) {
      count(cell.before, -sign);
    }
    count(cell.after(), sign);
  }

  private void count(TimerRecord record, long delta) {
    for (String scope : Scopes.counting(record)) {
      count(counts, scope, record.state(), delta);
    }
  }

  private static void count(
      Map<String, Map<TimerState, Long>> counts, String scope, TimerState state, long delta) {
    Map<TimerState, Long> states =
        counts.computeIfAbsent(scope, same -> new EnumMap<>(TimerState.class));
    if (states.merge(state, delta, Long::sum) == 0) {
      states.remove(state);
      if (states.isEmpty()) {
        counts.remove(scope);
      }
    }
  }
}
