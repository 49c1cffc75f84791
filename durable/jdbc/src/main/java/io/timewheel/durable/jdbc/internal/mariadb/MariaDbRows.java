// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.mariadb;

import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.spi.StoreException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** Executes statements for lists of rows, in parts that are small enough for the server. */
final class MariaDbRows {
  /**
   * The maximum number of values of a list. Above 1,000, the optimizer would convert the list to a
   * join with a table.
   */
  static final int MAX_ROWS = 500;

  /** The maximum size of several rows: half of a statement, because escaping may double bytes. */
  private static final int MAX_BYTES = 3 << 19;

  private MariaDbRows() {}

  /** Reads a result row. */
  interface Reader {
    void take(ResultSet row) throws SQLException;
  }

  /** Sets the columns of a row. */
  interface Columns<T> {
    void set(Parameters to, T row) throws SQLException;
  }

  /** Inserts rows, in as many statements as their size requires. */
  static <T> void insert(
      Connection connection, String into, int columns, List<T> rows, Columns<T> values)
      throws SQLException {
    int unused = insert(connection, into, row(columns), rows, row -> 0, values, "", returned -> {});
  }

  interface Size<T> {
    int of(T row);
  }

  static String row(int columns) {
    return "(" + MariaDbExpressions.marks(columns) + ")";
  }

  /** {@return the number of affected rows, as the server counts them} */
  static <T> int insert(
      Connection connection,
      String into,
      String row,
      List<T> rows,
      Size<T> size,
      Columns<T> values,
      String end,
      Reader look)
      throws SQLException {
    int affected = 0;
    int from = 0;
    while (from < rows.size()) {
      int to = Math.min(end(rows, from, size), from + MAX_ROWS);
      String sql = into + " VALUES " + row + (", " + row).repeat(to - from - 1) + end;
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        Parameters parameters = new Parameters(connection, statement);
        for (T one : rows.subList(from, to)) {
          values.set(parameters, one);
        }
        if (statement.execute()) {
          try (ResultSet returned = statement.getResultSet()) {
            while (returned.next()) {
              look.take(returned);
            }
          }
        } else {
          affected += statement.getUpdateCount();
        }
      }
      from = to;
    }
    return affected;
  }

  /** {@return the index after the last row that fits into one statement} */
  private static <T> int end(List<T> rows, int from, Size<T> size) {
    int to = from + 1;
    int bytes = size.of(rows.get(from));
    while (to < rows.size() && (bytes += size.of(rows.get(to))) <= MAX_BYTES) {
      to++;
    }
    return to;
  }

  /**
   * Inserts rows that do not exist, in as many JDBC batches as their size requires. The driver then
   * sends them without SQL text, unless it is configured otherwise. If it fails, the transaction
   * must be rolled back, because some rows may be inserted.
   */
  static <T> void insertNew(
      Connection connection, String sql, List<T> rows, Size<T> size, Columns<T> values)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int from = 0, to; from < rows.size(); from = to) {
        to = end(rows, from, size);
        for (T row : rows.subList(from, to)) {
          values.set(new Parameters(connection, statement), row);
          statement.addBatch();
        }
        int[] unused = statement.executeBatch();
      }
    }
  }

  /**
   * Executes a statement for each row.
   *
   * @return for each row, whether the statement has found it
   */
  static <T> boolean[] each(Connection connection, String sql, List<T> rows, Columns<T> values)
      throws SQLException {
    boolean[] done = new boolean[rows.size()];
    if (rows.isEmpty()) {
      return done;
    }
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (T row : rows) {
        values.set(new Parameters(connection, statement), row);
        statement.addBatch();
      }
      int[] counts = statement.executeBatch();
      for (int i = 0; i < done.length; i++) {
        if (counts[i] == Statement.SUCCESS_NO_INFO) {
          throw new StoreException(
              StoreException.Kind.UNAVAILABLE,
              "the driver does not return which statements of a batch changed rows (expected:"
                  + " useBulkStmts=false)",
              null);
        }
        done[i] = counts[i] > 0;
      }
    }
    return done;
  }

  /**
   * Deletes rows that are already locked, each by its whole key. With a condition for many keys,
   * the server might check all rows, and wait for rows that other transactions have locked.
   */
  static <T> void deleteLocked(Connection connection, String from, List<T> keys, Columns<T> key)
      throws SQLException {
    if (!keys.isEmpty()) {
      boolean[] unused = each(connection, "DELETE FROM " + from, keys, key);
    }
  }
}
