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
 * Transactions on PostgreSQL. In a write batch a join of {@code unnest} with a table is a nested
 * loop over an index, whatever is in the table: a plan that a session has made while the table was
 * empty is kept when it is large. What is "off" only looks dear to the planner, which must not take
 * that for a reason to compile the plan for seconds.
 */
final class PostgreSqlTransactions implements TransactionSql {
  /** How a transaction begins in which nothing is planned or locked yet. */
  static final String ISOLATION = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";

  /** What makes the planner take the indexes. */
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
   * Sets the limits of a transaction that holds a fence, and reads {@link #FORMAT the format}. A
   * statement of the protocol takes its snapshot after its locks, so that one that has waited for a
   * switch reads what was switched to. EXECUTE, in SQL, does not.
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

  private static final String LOCK_LIMIT = "100ms";

  /** The least limit: 0 would be none. */
  private static final String LEAST_LOCK_LIMIT = "1ms";

  private static final String BEGIN = limits(LOCK_LIMIT, "0");

  private static final String BEGIN_WITH_VERSIONS =
      limits(LOCK_LIMIT, "nextval('timewheel_version')");

  /** Longer than for a write batch, since an effect is at stake; but no deadlock lasts as long. */
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
   * LOCK takes no snapshot. So what others commit while it waits is seen, and no part of the
   * history is emptied behind the snapshot, since TRUNCATE has no regard for those.
   */
  @Override
  public void beginSnapshot(Connection connection, boolean alone) throws SQLException {
    Sql.execute(
        connection,
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SET LOCAL statement_timeout = 0;"
            + " SET LOCAL idle_in_transaction_session_timeout = 0;"
            + (hasTransactionTimeout(connection) ? " SET LOCAL transaction_timeout = 0;" : "")
            + " LOCK TABLE timewheel_done IN ACCESS SHARE MODE");
    if (alone) {
      // Longer than an autovacuum holds it against a waiting transaction.
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
   * Sets the limits under which what a handler has done is committed.
   *
   * @param begun the number of its transaction
   * @return whether it is still that one
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
