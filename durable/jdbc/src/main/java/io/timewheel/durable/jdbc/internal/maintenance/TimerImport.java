// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.maintenance;

import io.timewheel.durable.jdbc.internal.rows.NodeId;
import io.timewheel.durable.jdbc.internal.rows.Rows;
import io.timewheel.durable.jdbc.internal.server.Expressions;
import io.timewheel.durable.jdbc.internal.server.Queries;
import io.timewheel.durable.jdbc.internal.server.Records;
import io.timewheel.durable.jdbc.internal.server.Records.Finished;
import io.timewheel.durable.jdbc.internal.server.Records.Lock;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.SharedRows;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes copied timers unchanged, with their rows of the ready index, the history and the counters.
 * Each batch is one transaction, so a batch whose answer is lost can be repeated.
 *
 * <p>It refuses to write while nodes have leases: they keep due timers, versions and claims in
 * memory, which an import would contradict.
 */
public final class TimerImport {
  /** The problem of a database that lacks timers, and its remedy. */
  public static final String UNFINISHED =
      "an import into the database has not ended, so timers are missing (copy or import again, or"
          + " drop the tables)";

  private static final int MAX_NAMED_NODES = 10;
  private static final String MARK =
      "INSERT INTO timewheel_meta (name, value) VALUES ('import', 1)";
  private static final String UNMARK = "DELETE FROM timewheel_meta WHERE name = 'import'";

  private final Transactions transactions;
  private final TransactionSql sql;
  private final Expressions expressions;
  private final Queries queries;
  private final Records records;
  private final SharedRows shared;
  private final int shards;

  public TimerImport(Transactions transactions, ServerParts server, int shards) {
    this.transactions = transactions;
    sql = server.transactions();
    expressions = server.expressions();
    queries = server.queries();
    records = server.records();
    shared = server.shared();
    this.shards = shards;
  }

  /**
   * Refuses live nodes, marks the import as unfinished, and makes new versions exceed the last
   * copied one.
   *
   * @throws StoreException with the kind REJECTED if nodes have leases
   */
  public void begin(long lastVersion) {
    transactions.change(
        connection -> {
          checkNoNode(connection);
          execute(connection, UNMARK);
          execute(connection, MARK);
          raiseVersion(connection, lastVersion);
        });
  }

  /** Removes the mark of an unfinished import. */
  public void end() {
    transactions.change(connection -> execute(connection, UNMARK));
  }

  /** {@return whether an import has begun and not ended} */
  public boolean isUnfinished() {
    return transactions.read(TimerImport::isUnfinished);
  }

  static boolean isUnfinished(Connection connection) throws SQLException {
    return Sql.number(connection, "SELECT count(*) FROM timewheel_meta WHERE name = 'import'") > 0;
  }

  /**
   * Refuses a database that lacks timers.
   *
   * @throws StoreException with the kind REJECTED if an import has not ended
   */
  public void checkFinished() {
    if (isUnfinished()) {
      throw new StoreException(StoreException.Kind.REJECTED, UNFINISHED, null);
    }
  }

  private static void execute(Connection connection, String statement) throws SQLException {
    try (PreparedStatement prepared = connection.prepareStatement(statement)) {
      prepared.executeUpdate();
    }
  }

  /**
   * Raises the sequence of versions. A sequence is not transactional, so it stays raised after a
   * rollback.
   */
  private void raiseVersion(Connection connection, long version) throws SQLException {
    if (queries.nextVersion(connection) <= version) {
      queries.raiseVersion(connection, version);
    }
  }

  private void checkNoNode(Connection connection) throws SQLException {
    List<String> nodes = new ArrayList<>();
    try (PreparedStatement statement =
            connection.prepareStatement(
                "SELECT name, node FROM timewheel_node WHERE lease_until > "
                    + expressions.nowMillis()
                    + " ORDER BY node LIMIT "
                    + MAX_NAMED_NODES);
        ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        nodes.add(NodeId.of(rows.getString(1), rows.getLong(2)));
      }
    }
    if (!nodes.isEmpty()) {
      throw new StoreException(
          StoreException.Kind.REJECTED,
          "nodes use the database: %s (stop them, wait until their node leases end, and repeat)"
              .formatted(String.join(", ", nodes)),
          null);
    }
  }

  /**
   * {@return the number of timers that were written: those that are new, or newer than the stored
   * ones}
   */
  public int write(List<CopiedTimer> timers) {
    Map<TimerKey, CopiedTimer> newest = new TreeMap<>();
    for (CopiedTimer timer : timers) {
      newest.merge(
          timer.record().key(),
          timer,
          (one, other) -> other.isNewerThan(one.record()) ? other : one);
    }
    return transactions.write(connection -> write(connection, newest));
  }

  private int write(Connection connection, Map<TimerKey, CopiedTimer> timers) throws SQLException {
    sql.begin(connection);
    checkNoNode(connection);
    if (timers.isEmpty()) {
      return 0;
    }
    try (Statements to = new Statements(connection)) {
      StateCounts counts = new StateCounts();
      List<CopiedTimer> newer = makeRoom(to, timers, counts);
      if (newer.isEmpty()) {
        return 0;
      }
      long purgedUntil = Sql.number(to.connection(), "SELECT forgotten_at FROM timewheel_history");
      insert(to, newer, purgedUntil);
      newer.forEach(timer -> counts.add(timer.record(), 1));
      raiseVersion(
          to.connection(),
          newer.stream().mapToLong(timer -> timer.record().version()).max().orElse(0));
      if (!counts.isEmpty()) {
        shared.count(to, counts);
      }
      to.send();
      return newer.size();
    }
  }

  /**
   * Deletes the stored records of those timers that are newer. Returns these timers and the new
   * ones.
   */
  private List<CopiedTimer> makeRoom(
      Statements to, Map<TimerKey, CopiedTimer> timers, StateCounts counts) throws SQLException {
    Map<TimerKey, TimerRecord> unfinished =
        records.read(to, List.copyOf(timers.keySet()), Lock.WAIT).get();
    List<TimerKey> others =
        timers.keySet().stream().filter(key -> !unfinished.containsKey(key)).toList();
    Map<TimerKey, Finished> finished =
        others.isEmpty() ? Map.of() : records.finished(to, others).get();
    List<CopiedTimer> newer = new ArrayList<>();
    List<TimerRecord> waiting = new ArrayList<>();
    List<TimerRecord> past = new ArrayList<>();
    for (CopiedTimer timer : timers.values()) {
      TimerKey key = timer.record().key();
      TimerRecord present = unfinished.get(key);
      Finished ended = finished.get(key);
      if (present == null && ended != null) {
        present = ended.record();
      }
      if (!timer.isNewerThan(present)) {
        continue;
      }
      newer.add(timer);
      if (present != null) {
        (ended == null ? waiting : past).add(present);
        counts.add(present, -1);
      }
    }
    remove(to, waiting, past);
    return newer;
  }

  private void remove(Statements to, List<TimerRecord> waiting, List<TimerRecord> past)
      throws SQLException {
    List<TimerRecord> ready = ready(waiting);
    if (!ready.isEmpty()) {
      records.removeReady(to, ready);
    }
    if (!waiting.isEmpty()) {
      records.remove(to, waiting);
    }
    if (!past.isEmpty()) {
      check(records.unfinish(to, past).get());
    }
  }

  private void insert(Statements to, List<CopiedTimer> timers, long purgedUntil)
      throws SQLException {
    List<TimerRecord> unfinished = new ArrayList<>();
    List<Finished> finished = new ArrayList<>();
    for (CopiedTimer timer : timers) {
      if (timer.record().state().isFinished()) {
        finished.add(new Finished(retained(timer.record(), purgedUntil), payloadHash(timer)));
      } else {
        unfinished.add(timer.record());
      }
    }
    if (!unfinished.isEmpty()) {
      check(records.insert(to, unfinished, shards, false).get());
    }
    if (!finished.isEmpty()) {
      records.insertFinished(to, finished);
    }
    List<TimerRecord> ready = ready(unfinished);
    if (!ready.isEmpty()) {
      records.addReady(to, ready);
    }
  }

  private static byte @Nullable [] payloadHash(CopiedTimer timer) {
    String hash = timer.payloadHash();
    return hash == null
        ? Rows.hash(timer.record().definition().payload())
        : HexFormat.of().parseHex(hash);
  }

  private static List<TimerRecord> ready(Collection<TimerRecord> timers) {
    return timers.stream().filter(record -> record.state() == TimerState.READY).toList();
  }

  private static void check(boolean[] written) {
    for (boolean each : written) {
      if (!each) {
        throw new StoreException(
            StoreException.Kind.TRANSIENT,
            "another transaction has changed timers of the import (stop it, and import again)",
            null);
      }
    }
  }

  /**
   * Moves the finish time of a timer after the purged position, because an earlier row would be
   * invisible.
   */
  private static TimerRecord retained(TimerRecord record, long purgedUntil) {
    return record.changedAt() <= purgedUntil
        ? record.copy().changedAt(purgedUntil + 1).build()
        : record;
  }
}
