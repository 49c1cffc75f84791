// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.mariadb;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.rows.Rows;
import io.timewheel.durable.jdbc.internal.server.DirectInserts;
import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.batch.StateCounts.Count;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Inserts new timers directly on MariaDB, by one compound statement that begins and ends its
 * transaction. The server waits for nothing between its parts, so a suspended node holds no locks.
 * COMMIT and ROLLBACK override {@code completion_type}, which might begin another transaction.
 *
 * <p>The insert of the timers waits for no lock. The counters and the commit row have new keys, so
 * only a change of their tables can delay them. The later read of the history has a snapshot of its
 * own, so it finds any timer that was finished before its key was free. If a timer exists or is in
 * the history, the statement rolls back.
 *
 * <p>A row of {@code timewheel_commit} contains the token. It is present if the write was
 * committed, even after its timers were replaced.
 */
final class MariaDbDirectInserts implements DirectInserts {
  private static final int DUPLICATE_KEY = 1_062;

  /** Syntax error, missing right, unknown variable, and unsupported statement, as of a proxy. */
  private static final Set<Integer> REFUSED = Set.of(1_064, 1_142, 1_143, 1_193, 1_227, 1_235);

  /**
   * Changed row, full disk, unknown column, full table, missing table, packet too large, lock
   * timeout, deadlock, read-only server, open transaction, a trigger's signal, and read-only
   * transaction and storage engine.
   */
  private static final Set<Integer> FAILED_BEFORE_COMMIT =
      Set.of(
          1_020, 1_021, 1_054, 1_114, 1_146, 1_153, 1_205, 1_213, 1_290, 1_568, 1_644, 1_792,
          1_836);

  /** The longest list. For longer ones, a write batch costs less, because it parses no rows. */
  private static final int MAX_TIMERS = 99;

  /** The largest statement, if escaping doubles each byte. The smallest packet limit is 4 MiB. */
  private static final int MAX_BYTES = 3 << 20;

  /** The size of the numbers of a timer, and of the punctuation. */
  private static final int ROW_BYTES = 256;

  private static final int BYTES_OF_CHARACTER = 3;

  private static final String READ_COMMITTED = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";

  private static final String BEGIN =
      """
      BEGIN NOT ATOMIC
      DECLARE first_version bigint DEFAULT nextval(timewheel_version);
      DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK AND NO CHAIN NO RELEASE; RESIGNAL; END;
      SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
      START TRANSACTION;
      SET STATEMENT innodb_lock_wait_timeout = 0 FOR \
      """
          + MariaDbRecords.NEW_COLUMNS;

  private static final String ROW = MariaDbRecords.NEW_ROW + "first_version + ";

  private static final String COUNTS =
      ";\nINSERT INTO timewheel_count (namespace, state, delta) VALUES (?, ?, ?)";

  /**
   * Inserts the commit row, if the format is known and no timer is in the history. It is one
   * statement with one join, because each subquery would cost as much as an insert.
   */
  private static final String COMMIT_ROW =
      ";\nINSERT INTO timewheel_commit (made_at, id, version) SELECT "
          + MariaDbExpressions.NOW
          + ", ?, first_version FROM timewheel_meta m"
          + " LEFT JOIN timewheel_done t FORCE INDEX (PRIMARY) ON ";

  private static final String END =
      " AND t.namespace IS NULL;\n"
          + "IF row_count() > 0 THEN COMMIT AND NO CHAIN NO RELEASE; SELECT first_version, 0;\n"
          + "ELSE ROLLBACK AND NO CHAIN NO RELEASE; SELECT 0, value"
          + Formats.IN_USE
          + ";\nEND IF;\nEND";

  private static final String FOUND =
      "SELECT @@read_only IN ('0', 'OFF'), "
          + MariaDbExpressions.NOW
          + " - "
          + MariaDbCommitProof.COMMITS_MILLIS
          + ", (SELECT version FROM timewheel_commit WHERE made_at > "
          + MariaDbExpressions.NOW
          + " - "
          + MariaDbCommitProof.COMMITS_MILLIS
          + " AND id = ?)";

  private final Formats formats;
  private final String ifKnown;

  MariaDbDirectInserts(Formats formats) {
    this.formats = formats;
    ifKnown =
        " WHERE m.name = 'format' AND m.value BETWEEN "
            + formats.oldest()
            + " AND "
            + formats.newest()
            + END;
  }

  /** Returns true: the compound statement sets the isolation of its transaction. */
  @Override
  public boolean isPossible(Connection connection) {
    return true;
  }

  @Override
  public boolean fits(List<TimerRecord> records) {
    if (records.size() > MAX_TIMERS) {
      return false;
    }
    long bytes = 0;
    for (TimerRecord record : records) {
      TimerKey key = record.key();
      int names =
          key.namespace().length() + 2 * key.id().length() + record.definition().handler().length();
      bytes +=
          ROW_BYTES
              + 2L * BYTES_OF_CHARACTER * names
              + 2L * Rows.spec(record).length
              + 2L * record.definition().payload().length;
    }
    return bytes <= MAX_BYTES;
  }

  @Override
  public Answer insert(
      Connection connection,
      List<TimerRecord> records,
      long token,
      int shards,
      Consumer<Statements> notification)
      throws SQLException {
    List<Count> counts = StateCounts.of(records).toList();
    try (PreparedStatement statement =
        connection.prepareStatement(insert(records, counts.size()))) {
      Parameters to = new Parameters(connection, statement);
      for (TimerRecord record : records) {
        Parameters unused = MariaDbRecords.bindNew(to, record, shards);
      }
      for (Count count : counts) {
        to.text(count.scope()).number(Codes.STATES.of(count.state())).number(count.number());
      }
      to.number(token);
      MariaDbRecords.bindAmong(to, keys(records));
      statement.execute();
      try (ResultSet rows = statement.getResultSet()) {
        rows.next();
        long firstVersion = rows.getLong(1);
        boolean inserted = firstVersion > 0;
        formats.found(inserted ? formats.newest() : rows.getLong(2));
        return new Answer(firstVersion, inserted, true);
      }
    } catch (SQLException e) {
      end(connection, e);
      throw e;
    }
  }

  private String insert(List<TimerRecord> records, int counts) {
    StringBuilder sql = new StringBuilder(BEGIN);
    for (int i = 0; i < records.size(); i++) {
      sql.append(i == 0 ? "" : ", ").append(ROW).append(i).append(')');
    }
    return sql.append(COUNTS)
        .append(", (?, ?, ?)".repeat(counts - 1))
        .append(COMMIT_ROW)
        .append(MariaDbRecords.among(keys(records)))
        .append(ifKnown)
        .toString();
  }

  private static List<TimerKey> keys(List<TimerRecord> records) {
    return records.stream().map(TimerRecord::key).toList();
  }

  /** Returns 0, because the driver's interface is no part of this module. */
  @Override
  public int session(Connection connection) {
    return 0;
  }

  @Override
  public boolean hasEnded(Connection connection, int session) {
    return false;
  }

  @Override
  public boolean isNotNew(SQLException failure) {
    return MariaDbErrors.code(failure) == DUPLICATE_KEY;
  }

  @Override
  public boolean isRefused(SQLException failure) {
    return REFUSED.contains(MariaDbErrors.code(failure));
  }

  /**
   * Returns whether the insert may be committed. The answer is false only for errors that the
   * server reports before it commits. All others may stand for a lost connection: a driver that
   * reconnects, or a proxy, may report any code and state, also that of its failed login.
   */
  @Override
  public boolean mayBeCommitted(SQLException failure) {
    int code = MariaDbErrors.code(failure);
    String state = MariaDbErrors.state(failure);
    return !FAILED_BEFORE_COMMIT.contains(code)
        && !REFUSED.contains(code)
        && !state.startsWith("22") // invalid data
        && !state.startsWith("23"); // constraint
  }

  /**
   * Looks up the timers, and then the commit row of the token. If a found timer is of this write,
   * the write was committed before the timer was read, so the later snapshot contains the commit
   * row. Without that row, the timers are of other writes, so their version counts as known. The
   * purged part of the history is that of the commit rows.
   */
  @Override
  public Look look(Connection connection, List<TimerKey> keys, long token) throws SQLException {
    Sql.execute(connection, READ_COMMITTED); // otherwise it might read uncommitted rows
    try {
      Sql.execute(connection, "START TRANSACTION");
      Look look = lookCommitted(connection, keys, token);
      Sql.execute(connection, "COMMIT AND NO CHAIN NO RELEASE");
      return look;
    } catch (SQLException e) {
      end(connection, e);
      throw e;
    }
  }

  /** Looks up in READ COMMITTED, where each statement has a snapshot of its own. */
  private static Look lookCommitted(Connection connection, List<TimerKey> keys, long token)
      throws SQLException {
    List<Found> timers = new ArrayList<>();
    // The history last, because a timer may move to it between the two reads.
    for (String table : List.of("timewheel_timer", "timewheel_done")) {
      for (TimerKey key : MariaDbRecords.keysIn(connection, table, keys)) {
        timers.add(new Found(key, 0, false));
      }
    }
    try (PreparedStatement statement = connection.prepareStatement(FOUND)) {
      new Parameters(connection, statement).number(token);
      try (ResultSet rows = statement.executeQuery()) {
        rows.next();
        boolean isPrimary = rows.getBoolean(1);
        long purgedUntil = rows.getLong(2);
        long firstVersion = rows.getLong(3);
        return new Look(
            isPrimary,
            purgedUntil,
            rows.wasNull() ? timers : List.of(new Found(keys.get(0), firstVersion, true)));
      }
    }
  }

  /**
   * Ends a transaction that a failed statement may have left open, as no handler runs after the
   * statement was killed. The driver does not know of the transaction, so its own rollback would
   * send nothing.
   */
  private static void end(Connection connection, SQLException failure) {
    try {
      Sql.execute(connection, "ROLLBACK AND NO CHAIN NO RELEASE");
    } catch (SQLException e) {
      failure.addSuppressed(e);
      try {
        connection.abort(Runnable::run);
      } catch (SQLException second) {
        failure.addSuppressed(second);
      }
    }
  }
}
