// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.postgresql;

import io.timewheel.durable.jdbc.internal.server.SchemaSql;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** Creates and changes the tables on PostgreSQL, 14 or newer. */
final class PostgreSqlSchema implements SchemaSql {
  private static final int LEAST_VERSION = 140_000;

  private final PostgreSqlCommitProof commits;

  PostgreSqlSchema(PostgreSqlCommitProof commits) {
    this.commits = commits;
  }

  @Override
  public void check(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT current_setting('server_encoding'),"
                    + " current_setting('server_version_num')::integer")) {
      rows.next();
      if (!rows.getString(1).equals("UTF8")) {
        throw new StoreException(
            Kind.UNAVAILABLE,
            "the encoding of the database is " + rows.getString(1) + " (expected: UTF8)",
            null);
      }
      if (rows.getInt(2) < LEAST_VERSION) {
        throw new StoreException(
            Kind.UNAVAILABLE,
            "the database is PostgreSQL "
                + rows.getInt(2) / 10_000
                + " (expected: at least "
                + LEAST_VERSION / 10_000
                + ")",
            null);
      }
    }
    commits.check(connection);
  }

  @Override
  public List<String> migration(int format) {
    return SchemaSql.script(PostgreSqlSchema.class, "postgresql-" + format + ".sql");
  }

  /**
   * Locks the schema. Later statements read the commits of the transactions that held the lock
   * before.
   */
  @Override
  public void lock(Connection connection) throws SQLException {
    Sql.execute(
        connection,
        PostgreSqlTransactions.ISOLATION
            + ";\nSELECT pg_advisory_xact_lock(hashtext('timewheel_schema'))");
  }

  /**
   * Gives a statement exclusive use of the table. Transactions that begin meanwhile wait too, so
   * its wait is short.
   */
  @Override
  public List<String> exclusively(String statement) {
    return List.of(
        "SET LOCAL lock_timeout = '100ms';",
        "LOCK TABLE timewheel_meta IN ACCESS EXCLUSIVE MODE;",
        statement);
  }

  @Override
  public boolean exists(Connection connection) throws SQLException {
    // The query contains a table, because otherwise the session may not yet know tables that others
    // have created.
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT count(*) FROM pg_class WHERE oid = to_regclass('timewheel_meta')")) {
      rows.next();
      return rows.getInt(1) == 1;
    }
  }
}
