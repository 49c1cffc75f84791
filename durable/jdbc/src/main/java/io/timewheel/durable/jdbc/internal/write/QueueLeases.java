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
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.batch.Cell;
import io.timewheel.durable.spi.batch.Decision;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
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
      List<LeaseRequest> admitted = new ArrayList<>(requests);
      admitted.removeIf(
          request -> Scopes.isQueuePaused(paused, request.namespace(), request.queue()));
      SharedLimits.Locked locked = limits.admit(connection, admitted, nowMillis);
      List<TimerRecord> ready = takeReady(connection, admitted, limit);
      Decision decision = decision();
      Taken taken = new Taken(ready);
      List<Cell> leased = decision.lease(admitted, limit, taken, tokens, nowMillis);
      SharedLimits.claimed(connection, locked, taken.claims);
      return claim(to, decision, leased);
    }
  }

  private List<TimerRecord> takeReady(Connection connection, List<LeaseRequest> requests, int limit)
      throws SQLException {
    List<TimerRecord> ready = new ArrayList<>();
    List<LeaseRequest> ofQueues = new ArrayList<>(requests);
    ofQueues.removeIf(LeaseRequest::isForHandler);
    if (!ofQueues.isEmpty()) {
      ready.addAll(queries.takeReady(connection, ofQueues, limit));
    }
    for (LeaseRequest request : requests) {
      int left = Math.min(request.max(), limit - ready.size());
      if (request.isForHandler() && left > 0) {
        ready.addAll(queries.takeReady(connection, request.queue(), left));
      }
    }
    return ready;
  }

  private static Decision decision() {
    return new Decision(
        new BatchFacts(new Fence(1, shard -> null), 0, Map.of(), new StateCounts(), Set.of()));
  }

  /** The ready timers that a transaction has taken. */
  private static final class Taken implements Decision.ReadyTimers<Cell> {
    private final Map<TimerKey, List<TimerRecord>> ready = new HashMap<>();
    final Map<String, Integer> claims = new HashMap<>();

    Taken(List<TimerRecord> records) {
      for (TimerRecord record : records) {
        ready.computeIfAbsent(LeaseRequest.source(record), source -> new ArrayList<>()).add(record);
      }
    }

    @Override
    public int admitted(LeaseRequest request) {
      return request.max();
    }

    @Override
    public void visit(LeaseRequest request, Predicate<Cell> visitor) {
      for (TimerRecord record : ready.getOrDefault(request.source(), List.of())) {
        if (!visitor.test(cell(record))) {
          break; // the others stay ready
        }
      }
    }

    @Override
    public void claimed(LeaseRequest request, int claimed) {
      claims.put(request.scope(), claimed);
    }
  }

  private static Cell cell(TimerRecord record) {
    Cell cell = new Cell(record.key());
    cell.found(record);
    return cell;
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
    transactions.change(connection -> SharedLimits.release(connection, name, holder));
  }

  private List<TimerRecord> claim(Statements to, Decision decision, List<Cell> leased)
      throws SQLException {
    if (leased.isEmpty()) {
      to.connection().rollback(); // nothing to commit, and no outcome to look up
      return List.of();
    }
    onCommit.run();
    List<Records.Step> steps =
        leased.stream()
            .map(
                cell ->
                    new Records.Step(requireNonNull(cell.before()), requireNonNull(cell.after())))
            .toList();
    Answer<boolean[]> unused = records.advance(to, steps);
    records.removeReady(to, steps.stream().map(Records.Step::before).toList());
    shared.count(to, decision.counts());
    to.send();
    return steps.stream().map(Records.Step::after).toList();
  }
}
