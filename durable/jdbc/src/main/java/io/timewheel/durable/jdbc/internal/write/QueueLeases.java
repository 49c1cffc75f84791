// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.internal.server.Queries;
import io.timewheel.durable.jdbc.internal.server.Records;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.SharedRows;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.PageBuilder;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.Transitions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** Claims ready timers of many queues, or of many handlers, in one transaction. */
public final class QueueLeases {
  private final Transactions transactions;
  private final TransactionSql sql;
  private final SharedRows shared;
  private final Queries queries;
  private final Records records;
  private final SharedLimits limits;
  private final Runnable onCommit;

  /**
   * Creates the claims of a store.
   *
   * @param onCommit runs before each transaction that claims timers is committed
   */
  QueueLeases(Transactions transactions, ServerParts server, Runnable onCommit) {
    this.transactions = transactions;
    sql = server.transactions();
    shared = server.shared();
    queries = server.queries();
    records = server.records();
    limits = new SharedLimits(queries);
    this.onCommit = onCommit;
  }

  /** Implements {@link TimerStore#lease}. */
  public List<TimerRecord> lease(
      List<LeaseRequest> requests, int limit, long nowMillis, Supplier<ClaimToken> tokens) {
    return transactions.write(connection -> lease(connection, requests, limit, nowMillis, tokens));
  }

  private List<TimerRecord> lease(
      Connection connection,
      List<LeaseRequest> requests,
      int limit,
      long nowMillis,
      Supplier<ClaimToken> tokens)
      throws SQLException {
    try (Statements to = new Statements(connection)) {
      Answer<Long> unusedVersion = sql.begin(to, false);
      Set<String> paused = shared.holdPauses(to).get();
      Map<TimerKey, LeaseRequest> open = new LinkedHashMap<>();
      for (LeaseRequest request : requests) {
        if (!Scopes.isQueuePaused(paused, request.namespace(), request.queue())) {
          open.put(new TimerKey(request.namespace(), request.queue()), request);
        }
      }
      List<LeaseRequest> admitted = new ArrayList<>(open.values());
      SharedLimits.Locked locked = limits.admit(connection, admitted, nowMillis);
      List<TimerRecord> ready =
          admitted.isEmpty() ? List.of() : queries.takeReady(connection, admitted, limit);
      List<Records.Step> steps = new ArrayList<>();
      Map<String, Integer> claims = new HashMap<>();
      long bytes = 0;
      for (TimerRecord record : ready) {
        if (bytes >= PageBuilder.MAX_BYTES) {
          break; // the others stay ready
        }
        bytes += PageBuilder.bytes(record, true);
        LeaseRequest request =
            requireNonNull(
                open.get(new TimerKey(record.key().namespace(), record.definition().handler())));
        steps.add(
            new Records.Step(
                record, Transitions.lease(record, tokens.get(), request.untilMillis(), nowMillis)));
        claims.merge(request.scope(), 1, Integer::sum);
      }
      SharedLimits.claimed(connection, locked, claims);
      return claim(to, steps);
    }
  }

  /** Implements {@link TimerStore#acquire}. */
  public long acquire(
      String name, SharedLimit limit, String holder, long untilMillis, long nowMillis) {
    return transactions.write(
        connection -> {
          sql.begin(connection);
          return limits.acquire(connection, name, limit, holder, untilMillis, nowMillis);
        });
  }

  /** Implements {@link TimerStore#release}. */
  public void release(String name, String holder) {
    boolean unused =
        transactions.write(
            connection -> {
              sql.begin(connection);
              SharedLimits.release(connection, name, holder);
              return true;
            });
  }

  /** Implements {@link TimerStore#leaseForHandlers}. */
  public List<TimerRecord> leaseForHandlers(
      Map<String, Integer> wanted, long untilMillis, long nowMillis, Supplier<ClaimToken> tokens) {
    return transactions.write(
        connection -> leaseForHandlers(connection, wanted, untilMillis, nowMillis, tokens));
  }

  private List<TimerRecord> leaseForHandlers(
      Connection connection,
      Map<String, Integer> wanted,
      long untilMillis,
      long nowMillis,
      Supplier<ClaimToken> tokens)
      throws SQLException {
    try (Statements to = new Statements(connection)) {
      Answer<Long> unusedVersion = sql.begin(to, false);
      List<Records.Step> steps = new ArrayList<>();
      if (!shared.holdPauses(to).get().contains(TimerStore.EVERYTHING)) {
        for (Map.Entry<String, Integer> handler : wanted.entrySet()) {
          for (TimerRecord ready :
              queries.takeReady(connection, handler.getKey(), handler.getValue())) {
            steps.add(
                new Records.Step(
                    ready, Transitions.lease(ready, tokens.get(), untilMillis, nowMillis)));
          }
        }
      }
      return claim(to, steps);
    }
  }

  private List<TimerRecord> claim(Statements to, List<Records.Step> steps) throws SQLException {
    if (steps.isEmpty()) {
      to.connection().rollback(); // nothing to commit, and no outcome to look up
      return List.of();
    }
    onCommit.run();
    Answer<boolean[]> unused = records.advance(to, steps);
    records.removeReady(to, steps.stream().map(Records.Step::before).toList());
    shared.count(to, counts(steps));
    to.send();
    return steps.stream().map(Records.Step::after).toList();
  }

  private static Map<String, Map<TimerState, Long>> counts(List<Records.Step> steps) {
    Map<String, Map<TimerState, Long>> counts = new HashMap<>();
    for (Records.Step step : steps) {
      for (String scope : Scopes.counting(step.after())) {
        Map<TimerState, Long> deltas =
            counts.computeIfAbsent(scope, same -> new EnumMap<>(TimerState.class));
        deltas.merge(TimerState.READY, -1L, Long::sum);
        deltas.merge(TimerState.RUNNING, 1L, Long::sum);
      }
    }
    return counts;
  }
}
