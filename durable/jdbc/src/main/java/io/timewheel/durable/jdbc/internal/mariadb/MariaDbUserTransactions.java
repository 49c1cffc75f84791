// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.mariadb;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.server.UserTransactions;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Works in transactions of the user on MariaDB, where a transaction stays usable after a failed
 * statement. Savepoints allow the changes of a failed call to be undone, and show whether a
 * transaction is still the same one.
 */
final class MariaDbUserTransactions implements UserTransactions {
  private static final String CALL = "timewheel_call";
  private static final String HANDLER = "timewheel_handler";

  private static final int NO_SUCH_SAVEPOINT = 1305;

  /** No database is selected, or it has no such table. */
  private static final Set<Integer> NO_TABLES = Set.of(1046, 1146);

  /** The server, the database and the tables. Tables with the same name may be different ones. */
  private static final String TABLES =
      "concat(@@hostname, ':', @@port, '/', database(), '/', value)";

  private static final String FROM = " FROM timewheel_meta WHERE name = 'identity'";

  private final Formats formats;

  MariaDbUserTransactions(Formats formats) {
    this.formats = formats;
  }

  @Override
  public @Nullable String tables(Connection connection) throws SQLException {
    return Sql.text(connection, "SELECT " + TABLES + FROM);
  }

  @Override
  public Visit enter(Connection connection) throws SQLException {
    String sql = "SELECT " + TABLES + ", @@tx_isolation = 'READ-COMMITTED', @@tx_read_only" + FROM;
    String tables;
    boolean readCommitted;
    boolean readOnly;
    try (PreparedStatement statement = connection.prepareStatement(sql);
        ResultSet rows = statement.executeQuery()) {
      rows.next();
      tables = rows.getString(1);
      readCommitted = rows.getBoolean(2);
      readOnly = rows.getBoolean(3);
    } catch (SQLException e) {
      if (NO_TABLES.contains(MariaDbErrors.code(e))) {
        return new Visit(null, true, false, 0, List.of());
      }
      throw e;
    }
    long firstVersion = readOnly ? 0 : MariaDbTransactions.nextVersion(connection);
    return new Visit(tables, readCommitted, readOnly, firstVersion, List.of());
  }

  /**
   * Does nothing: the user's settings were not changed, and the savepoint ends with the
   * transaction.
   */
  @Override
  public void leave(Connection connection, Visit visit) {}

  @Override
  public void mark(Connection connection) throws SQLException {
    Sql.execute(connection, "SAVEPOINT " + CALL);
  }

  @Override
  public void undo(Connection connection, Exception failure) {
    try {
      Sql.execute(connection, "ROLLBACK TO SAVEPOINT " + CALL);
    } catch (SQLException e) {
      failure.addSuppressed(e);
      if (MariaDbErrors.code(e) == NO_SUCH_SAVEPOINT) {
        undoAll(connection, failure);
      }
    }
  }

  /**
   * Rolls back after a deadlock, which has undone everything, including savepoints. The rest of the
   * batch was already sent, and has begun another transaction without the user's changes.
   */
  private static void undoAll(Connection connection, Exception failure) {
    try {
      Sql.execute(connection, "ROLLBACK AND NO CHAIN NO RELEASE");
    } catch (SQLException e) {
      failure.addSuppressed(e);
    }
  }

  @Override
  public String beginHandler(Connection connection, long idleMillis, boolean own)
      throws SQLException {
    if (own) {
      MariaDbTransactions.beginHandler(connection, idleMillis);
    }
    Sql.execute(connection, "SAVEPOINT " + HANDLER);
    return HANDLER;
  }

  /**
   * Checks the savepoint. A transaction that has ended, for example by a deadlock that the handler
   * hides, has none.
   */
  @Override
  public Statements.Answer<Boolean> endHandler(Statements to, String begun, boolean own)
      throws SQLException {
    Connection connection = to.connection();
    try {
      Sql.execute(connection, "RELEASE SAVEPOINT " + begun);
    } catch (SQLException e) {
      if (MariaDbErrors.code(e) == NO_SUCH_SAVEPOINT) {
        return () -> false;
      }
      throw e;
    }
    if (own) {
      MariaDbTransactions.limit(connection);
    }
    formats.checkInUse(connection);
    return () -> true;
  }
}
