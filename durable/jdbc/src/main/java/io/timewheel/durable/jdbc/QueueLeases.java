// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.TimerState;
import io.timewheel.durable.jdbc.Statements.Answer;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.Transitions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** Claims ready timers of many queues in one transaction. */
final class QueueLeases {
  private final Dialect dialect;
  private final Queries queries;
  private final Records records;
  private final Runnable onCommit;

  /**
   * Creates the leases of a store.
   *
   * @param onCommit runs before each transaction that claims timers is committed
   */
  QueueLeases(Dialect dialect, Queries queries, Records records, Runnable onCommit) {
    this.dialect = dialect;
    this.queries = queries;
    this.records = records;
    this.onCommit = onCommit;
  }

  /** As {@link TimerStore#lease}, within a transaction. */
  List<TimerRecord> lease(
      Connection connection,
      List<LeaseRequest> requests,
      int limit,
      long nowMillis,
      Supplier<ClaimToken> tokens)
      throws SQLException {
    try (Statements to = new Statements(connection)) {
      Answer<Long> unusedVersion = dialect.begin(to, false);
      Set<String> paused = dialect.holdPauses(to).get();
      List<Records.Step> steps = new ArrayList<>();
      for (LeaseRequest request : requests) {
        int wanted = Math.min(request.max(), limit - steps.size());
        if (wanted > 0 && !isPaused(paused, request)) {
          for (TimerRecord ready :
              queries.takeReady(connection, request.namespace(), request.queue(), wanted)) {
            steps.add(
                new Records.Step(
                    ready,
                    Transitions.lease(ready, tokens.get(), request.untilMillis(), nowMillis)));
          }
        }
      }
      if (steps.isEmpty()) {
        connection.rollback(); // nothing is to be committed, and nobody will ask what became of it
        return List.of();
      }
      onCommit.run();
      Answer<boolean[]> unused = records.advance(to, steps);
      records.removeReady(to, steps.stream().map(Records.Step::before).toList());
      dialect.count(to, counts(steps));
      to.send();
      return steps.stream().map(Records.Step::after).toList();
    }
  }

  private static boolean isPaused(Set<String> paused, LeaseRequest request) {
    return paused.contains(request.namespace()) || paused.contains(TimerStore.EVERYTHING);
  }

  private static Map<String, Map<TimerState, Long>> counts(List<Records.Step> steps) {
    Map<String, Map<TimerState, Long>> counts = new HashMap<>();
    for (Records.Step step : steps) {
      Map<TimerState, Long> deltas =
          counts.computeIfAbsent(
              step.after().key().namespace(), same -> new EnumMap<>(TimerState.class));
      deltas.merge(TimerState.READY, -1L, Long::sum);
      deltas.merge(TimerState.FIRING, 1L, Long::sum);
    }
    return counts;
  }
}
