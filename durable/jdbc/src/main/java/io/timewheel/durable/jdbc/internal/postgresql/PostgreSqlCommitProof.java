// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.postgresql;

import io.timewheel.durable.jdbc.internal.server.CommitProof;
import io.timewheel.durable.jdbc.internal.sql.Log;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Proves commits by the number of the transaction and the position of the server's log. */
final class PostgreSqlCommitProof implements CommitProof {
  /** An expression for the timeline. Each promotion begins a new timeline. */
  private static final String TIMELINE = "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)";

  /** The argument of {@link #isCommitted} if the server does not return its log position. */
  static final String WITHOUT_LOG = PostgreSqlExpressions.NUMBER + "::text";

  /** The argument of {@link #isCommitted}. */
  static final String WITH_LOG =
      PostgreSqlExpressions.NUMBER
          + " || '@' || pg_current_wal_insert_lsn()"
          + " || '@' || coalesce(pg_last_wal_replay_lsn(), '0/0') || '@' || "
          + TIMELINE;

  private static final String ID_WITH_LOG = "SELECT " + WITH_LOG;
  private static final String ID_WITHOUT_LOG = "SELECT " + WITHOUT_LOG;

  private static final String STATUS =
      """
      WITH i AS (SELECT ?::xid8 AS id, ?::pg_lsn AS written, ?::pg_lsn AS replayed_then,
          ?::text AS timeline, pg_last_wal_replay_lsn() AS replayed)
      SELECT CASE
        WHEN pg_is_in_recovery() THEN 'in progress'
        WHEN replayed < written AND (replayed <> replayed_then OR TIMELINE <> timeline)
          THEN 'aborted'
        WHEN replayed IS NULL AND TIMELINE <> timeline THEN 'in progress'
        ELSE pg_xact_status(id) END FROM i\
      """
          .replace("TIMELINE", TIMELINE);

  private static final String STATUS_WITHOUT_LOG =
      "SELECT CASE WHEN pg_is_in_recovery() THEN 'in progress' ELSE pg_xact_status(?::xid8) END";

  /** False if the server does not return its log position, like some managed servers. */
  private volatile boolean returnsLog = true;

  /** Checks whether the server returns the position of its log. */
  void check(Connection connection) throws SQLException {
    returnsLog = returnsLog(connection);
  }

  private static boolean returnsLog(Connection connection) throws SQLException {
    try {
      Sql.execute(connection, "SELECT pg_last_wal_replay_lsn(), pg_current_wal_insert_lsn()");
      return true;
    } catch (SQLException e) {
      if (Set.of("0A000", "42501", "42883").contains(PostgreSqlErrors.state(e))) {
        Log.LOG.log(
            System.Logger.Level.WARNING,
            "the database does not return the position of its log ({0}): commits that a failover"
                + " loses may go unnoticed",
            e.getMessage());
        return false;
      }
      throw e;
    }
  }

  @Override
  public @Nullable String transactionId(Connection connection) throws SQLException {
    try (Statements to = new Statements(connection)) {
      return transactionId(to).get().orElse(null);
    }
  }

  /** {@return whether the server returns the position of its log} */
  boolean returnsLog() {
    return returnsLog;
  }

  /**
   * Returns the number of the transaction, and the log position and timeline for {@link
   * #isCommitted}.
   */
  @Override
  public Answer<Optional<String>> transactionId(Statements to) {
    return to.query(
        returnsLog ? ID_WITH_LOG : ID_WITHOUT_LOG,
        none -> {},
        rows -> {
          rows.next();
          return Optional.ofNullable(rows.getString(1));
        });
  }

  /**
   * Returns whether a transaction was committed. A server that recovers from a crash, or is
   * promoted, reuses the numbers of lost transactions. It has lost this one if it has recovered
   * since, but not up to the log position before the COMMIT. If it has reached that position, it
   * knows the number. A standby may still receive the commit. A clean restart erases the position
   * of the recovery. The outcome after a promotion, which the timeline shows, is then unknown.
   * After one or two crashes, the transaction's status is trusted.
   */
  @Override
  public @Nullable Boolean isCommitted(Connection connection, String transactionId)
      throws SQLException {
    String[] parts = transactionId.split("@", 4);
    try (PreparedStatement statement =
        connection.prepareStatement(parts.length == 1 ? STATUS_WITHOUT_LOG : STATUS)) {
      for (int i = 0; i < parts.length; i++) {
        statement.setString(i + 1, parts[i]);
      }
      try (ResultSet rows = statement.executeQuery()) {
        rows.next();
        String status = rows.getString(1);
        boolean isKnown = status != null && !status.equals("in progress"); // null if too old
        return isKnown ? Boolean.valueOf("committed".equals(status)) : null;
      }
    } catch (SQLException e) {
      if (PostgreSqlErrors.state(e).equals("22023")) {
        return false; // the number is unused: the server has crashed, and lost the transaction
      }
      throw e;
    }
  }

  @Override
  public void touch(Connection connection) throws SQLException {
    Sql.execute(connection, "SELECT pg_logical_emit_message(true, 'timewheel', '')");
  }

  @Override
  public String writingServer() {
    return returnsLog ? TIMELINE : "''";
  }
}
