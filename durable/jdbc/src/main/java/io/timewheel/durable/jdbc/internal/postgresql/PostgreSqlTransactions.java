// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.postgresql;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * Begins and ends transactions on PostgreSQL. In a write batch, a join of {@code unnest} with a
 * table must be a nested loop over an index, whatever the table contains. A session keeps the plan
 * that it made while the table was empty, even when the table is large. Plan types that are "off"
 * have a very high cost for the planner. So JIT is off too: the planner would otherwise compile
 * such a plan for seconds.
 */
final class PostgreSqlTransactions implements TransactionSql {
  /** The first statement of a transaction. It plans and locks nothing. */
  static final String ISOLATION = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";

  /** The settings that make the planner use the indexes. */
  static final String PLANNER =
      """
      set_config('plan_cache_mode', 'force_generic_plan', true),
        set_config('enable_seqscan', 'off', true),
        set_config('enable_hashjoin', 'off', true),
        set_config('enable_mergejoin', 'off', true),
        set_config('enable_bitmapscan', 'off', true),
        set_config('jit', 'off', true)\
      """;

  /**
   * Returns a statement that sets the limits of a transaction with a fence, and reads {@link
   * #FORMAT the format}. A protocol-level statement takes its snapshot after its locks. So if it
   * has waited for a switch of the format, it reads the new one. The SQL command EXECUTE does not.
   *
   * @param more another column
   */
  private static String limits(String lockTimeout, String more) {
    return "SELECT set_config('lock_timeout', '"
        + lockTimeout
        + "', true), set_config('idle_in_transaction_session_timeout', '2s', true), "
        + PLANNER
        + ", value, "
        + more
        + Formats.IN_USE;
  }

  private static final int FORMAT = 9;

  /** The lock timeout of a write batch and of a direct write. */
  static final String LOCK_LIMIT = "100ms";

  /** The shortest lock timeout; 0 would mean none. */
  private static final String LEAST_LOCK_LIMIT = "1ms";

  private static final String BEGIN = limits(LOCK_LIMIT, "0");

  private static final String BEGIN_WITH_VERSIONS =
      limits(LOCK_LIMIT, "nextval('timewheel_version')");

  /**
   * The lock timeout of a handler's commit. It is longer than that of a write batch, to protect the
   * handler's effects, but shorter than {@code deadlock_timeout}.
   */
  private static final String END_HANDLER =
      limits("500ms", PostgreSqlExpressions.NUMBER + "::text");

  private final Formats formats;

  PostgreSqlTransactions(Formats formats) {
    this.formats = formats;
  }

  @Override
  public Answer<Long> begin(Statements to, boolean wantsVersions) {
    to.update(ISOLATION, none -> {});
    return to.query(
        wantsVersions ? BEGIN_WITH_VERSIONS : BEGIN,
        none -> {},
        rows -> {
          rows.next();
          formats.found(rows.getLong(FORMAT));
          return rows.getLong(FORMAT + 1);
        });
  }

  /**
   * Begins a snapshot. LOCK takes no snapshot, so the later one includes the commits during the
   * wait. The lock also keeps parts of the history from being emptied, because TRUNCATE ignores
   * snapshots.
   */
  @Override
  public void beginSnapshot(Connection connection, boolean exclusive) throws SQLException {
    Sql.execute(
        connection,
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SET LOCAL statement_timeout = 0;"
            + " SET LOCAL idle_in_transaction_session_timeout = 0;"
            + (hasTransactionTimeout(connection) ? " SET LOCAL transaction_timeout = 0;" : "")
            + " LOCK TABLE timewheel_done IN ACCESS SHARE MODE");
    if (exclusive) {
      // Longer than an autovacuum holds a lock for which a transaction waits.
      Sql.execute(
          connection,
          "SET LOCAL lock_timeout = '2s';"
              + " LOCK TABLE timewheel_count IN SHARE UPDATE EXCLUSIVE MODE;"
              + " SET LOCAL lock_timeout = DEFAULT");
    }
  }

  private static boolean hasTransactionTimeout(Connection connection) throws SQLException {
    return connection.getMetaData().getDatabaseMajorVersion() >= 17;
  }

  @Override
  public void waitForLocks(Statements to, boolean wait) {
    to.update(
        "SET LOCAL lock_timeout = '" + (wait ? LOCK_LIMIT : LEAST_LOCK_LIMIT) + "'", none -> {});
  }

  /**
   * Sets the limits for the commit of a handler's effects.
   *
   * @param begun the number of its transaction
   * @return whether the current transaction is still that one
   */
  Answer<Boolean> endHandler(Statements to, String begun) {
    return to.query(
        END_HANDLER,
        none -> {},
        rows -> {
          rows.next();
          formats.found(rows.getLong(FORMAT));
          return begun.equals(rows.getString(FORMAT + 1));
        });
  }
}
