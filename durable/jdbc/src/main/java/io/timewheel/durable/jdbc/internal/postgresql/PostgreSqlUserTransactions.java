// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.postgresql;

import io.timewheel.durable.jdbc.internal.server.UserTransactions;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Works in transactions of the user on PostgreSQL. */
final class PostgreSqlUserTransactions implements UserTransactions {
  private static final Set<String> READ_COMMITTED = Set.of("read committed", "read uncommitted");
  private static final String ABORTED = "25P02";
  private static final int SETTINGS = 6;

  /** The server, the database and the table. Schemas with the same name may be different ones. */
  private static final String TABLES =
      """
      (SELECT system_identifier FROM pg_control_system())
        || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
        || '/' || to_regclass('timewheel_timer')::oid\
      """;

  // "Materialized", so that the settings are read before they are changed.
  private static final String ENTER =
      "WITH t AS MATERIALIZED (SELECT "
          + TABLES
          + " AS tables, current_setting('transaction_isolation') AS isolation,"
          + " current_setting('transaction_read_only')::boolean AS read_only,"
          + " current_setting('plan_cache_mode') AS s1, current_setting('enable_seqscan') AS s2,"
          + " current_setting('enable_hashjoin') AS s3, current_setting('enable_mergejoin') AS s4,"
          + " current_setting('enable_bitmapscan') AS s5,"
          + " current_setting('jit') AS s6) SELECT tables, isolation, read_only,"
          + " CASE WHEN NOT read_only THEN nextval(to_regclass('timewheel_version')) END,"
          + " s1, s2, s3, s4, s5, s6, "
          + PostgreSqlTransactions.PLANNER
          + " FROM t";

  private static final String LEAVE =
      "SELECT set_config('plan_cache_mode', ?, true), set_config('enable_seqscan', ?, true),"
          + " set_config('enable_hashjoin', ?, true), set_config('enable_mergejoin', ?, true),"
          + " set_config('enable_bitmapscan', ?, true), set_config('jit', ?, true)";

  // Assigns a transaction ID at the start, so that a transaction begun later has a different one.
  private static final String BEGIN_HANDLER =
      PostgreSqlTransactions.ISOLATION
          + ";\nSELECT pg_current_xact_id()::text,"
          + " set_config('idle_in_transaction_session_timeout', ?, true)";

  private static final String FAIL =
      "DO 'BEGIN RAISE EXCEPTION ''a call of a timer has failed: roll back''; END'";

  private final PostgreSqlTransactions transactions;

  PostgreSqlUserTransactions(PostgreSqlTransactions transactions) {
    this.transactions = transactions;
  }

  @Override
  public @Nullable String tables(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement("SELECT " + TABLES);
        ResultSet rows = statement.executeQuery()) {
      rows.next();
      return rows.getString(1);
    }
  }

  @Override
  public Visit enter(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(ENTER);
        ResultSet rows = statement.executeQuery()) {
      rows.next();
      List<String> settings = new ArrayList<>();
      for (int i = 0; i < SETTINGS; i++) {
        settings.add(rows.getString(5 + i));
      }
      return new Visit(
          rows.getString(1),
          READ_COMMITTED.contains(rows.getString(2)),
          rows.getBoolean(3),
          rows.getLong(4),
          settings);
    } catch (SQLException e) {
      if (PostgreSqlErrors.state(e).equals(ABORTED)) {
        throw new IllegalStateException(
            "connection: its transaction has failed already, and can only be rolled back", e);
      }
      throw e;
    }
  }

  @Override
  public void leave(Connection connection, Visit visit) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(LEAVE)) {
      for (int i = 0; i < SETTINGS; i++) {
        statement.setString(1 + i, visit.settings().get(i));
      }
      statement.execute();
    }
  }

  /**
   * Makes the transaction fail, unless a statement has failed already, so that it can only be
   * rolled back.
   */
  @Override
  public void undo(Connection connection, Exception failure) {
    if (failure instanceof SQLException) {
      return;
    }
    try {
      Sql.execute(connection, FAIL);
    } catch (SQLException e) {
      failure.addSuppressed(e);
    }
  }

  @Override
  public String beginHandler(Connection connection, long idleMillis, boolean own)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(BEGIN_HANDLER)) {
      statement.setString(1, idleMillis + "ms");
      statement.execute();
      statement.getMoreResults();
      try (ResultSet rows = statement.getResultSet()) {
        rows.next();
        return rows.getString(1);
      }
    }
  }

  @Override
  public Statements.Answer<Boolean> endHandler(Statements to, String begun, boolean own) {
    return transactions.endHandler(to, begun);
  }
}
