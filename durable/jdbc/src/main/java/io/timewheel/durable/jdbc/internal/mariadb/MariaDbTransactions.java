// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.mariadb;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Begins and ends transactions on MariaDB. It has no settings that end with a transaction, so the
 * session's settings are saved in variables and restored after the transaction.
 */
final class MariaDbTransactions implements TransactionSql {
  /** The numeric settings that are saved and restored; the isolation level is a text. */
  private static final List<String> NUMBERS =
      List.of(
          "innodb_lock_wait_timeout",
          "idle_transaction_timeout",
          "idle_write_transaction_timeout",
          "idle_readonly_transaction_timeout");

  /** The general idle timeout applies where the specific ones are 0. */
  private static final String KEEP =
      "SET @timewheel_isolation = coalesce(@timewheel_isolation, @@tx_isolation), "
          + each("@timewheel_%1$s = coalesce(@timewheel_%1$s, @@%1$s), ")
          + "SESSION tx_isolation = 'READ-COMMITTED', SESSION idle_write_transaction_timeout = 0,"
          + " SESSION idle_readonly_transaction_timeout = 0, ";

  /** The shortest lock timeout is 1 s. */
  private static final String LIMITS = limits(1);

  private static String limits(int lockSeconds) {
    return "SESSION innodb_lock_wait_timeout = "
        + lockSeconds
        + ", SESSION idle_transaction_timeout = 2";
  }

  /** The statement timeout, a fractional number of seconds, which only snapshots change. */
  private static final String KEEP_STATEMENT_TIME =
      "@timewheel_max_statement_time ="
          + " coalesce(@timewheel_max_statement_time, @@max_statement_time), ";

  private static final String NO_LIMITS =
      "SESSION idle_transaction_timeout = 0, SESSION max_statement_time = 0";

  private static final String NEXT_VERSION = "nextval(timewheel_version)";

  private static final String END =
      "SET SESSION tx_isolation = coalesce(@timewheel_isolation, @@tx_isolation), "
          + each("SESSION %1$s = CAST(coalesce(@timewheel_%1$s, @@%1$s) AS SIGNED), ")
          + "SESSION max_statement_time = CAST(coalesce("
          + "@timewheel_max_statement_time, @@max_statement_time) AS DECIMAL(14, 6)), "
          + each("@timewheel_%1$s = NULL, ")
          + "@timewheel_max_statement_time = NULL, "
          + "@timewheel_isolation = NULL";

  /** Returns the text for each numeric setting. */
  private static String each(String setting) {
    return NUMBERS.stream().map(setting::formatted).collect(Collectors.joining());
  }

  /** Begins the transaction of a handler, which keeps the lock timeout of the user. */
  static void beginHandler(Connection connection, long idleMillis) throws SQLException {
    Sql.execute(connection, KEEP + "SESSION idle_transaction_timeout = " + idleMillis / 1_000);
  }

  static void limit(Connection connection) throws SQLException {
    Sql.execute(connection, "SET " + LIMITS);
  }

  private final Formats formats;

  MariaDbTransactions(Formats formats) {
    this.formats = formats;
  }

  @Override
  public Answer<Long> begin(Statements to, boolean wantsVersions) throws SQLException {
    return begin(to, LIMITS, wantsVersions);
  }

  /**
   * Begins a write batch, which waits for no lock: a wait would delay its other timers and the
   * batches after it.
   */
  @Override
  public Answer<Long> beginBatch(Statements to, boolean wantsVersions) throws SQLException {
    return begin(to, limits(0), wantsVersions);
  }

  /** Begins in one round trip. */
  private Answer<Long> begin(Statements to, String limits, boolean wantsVersions)
      throws SQLException {
    String version = wantsVersions ? NEXT_VERSION : "0";
    String sql =
        "BEGIN NOT ATOMIC %s%s; SELECT value, %s%s; END"
            .formatted(KEEP, limits, version, Formats.IN_USE);
    try (Statement statement = to.connection().createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      formats.found(rows.getLong(1));
      long first = rows.getLong(2);
      return () -> first;
    }
  }

  /**
   * Begins a snapshot. The locking read takes no snapshot, so the later one includes the commits of
   * other transactions during the wait.
   */
  @Override
  public void beginSnapshot(Connection connection, boolean exclusive) throws SQLException {
    Sql.execute(connection, KEEP + KEEP_STATEMENT_TIME + NO_LIMITS);
    Sql.execute(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    if (exclusive) {
      Sql.execute(
          connection, "SELECT value FROM timewheel_meta WHERE name = 'identity' FOR UPDATE WAIT 2");
    }
  }

  static long nextVersion(Connection connection) throws SQLException {
    return Sql.number(connection, "SELECT " + NEXT_VERSION);
  }

  @Override
  public void end(Connection connection) throws SQLException {
    Sql.execute(connection, END);
  }

  @Override
  public boolean waitsBriefly() {
    return false;
  }
}
