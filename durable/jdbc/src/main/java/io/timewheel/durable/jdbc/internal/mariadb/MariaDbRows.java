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

/** Sends lists of rows, in statements that are short enough for the server. */
final class MariaDbRows {
  /** Beyond a thousand, a list would become a join with a table. */
  static final int MAX_ROWS = 500;

  /** What goes into one statement, which the server must take as one packet. */
  private static final int MAX_BYTES = 1 << 20;

  private MariaDbRows() {}

  /** Takes a row of an answer. */
  interface Reader {
    void take(ResultSet row) throws SQLException;
  }

  /** Sets the columns of a row. */
  interface Columns<T> {
    void set(Parameters to, T row) throws SQLException;
  }

  /** Inserts rows, in so many statements that each is short enough. */
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

  /** {@return how many rows were affected, by the count of the server} */
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
      int to = from;
      for (int bytes = 0; to < rows.size() && to - from < MAX_ROWS && bytes < MAX_BYTES; to++) {
        bytes += size.of(rows.get(to));
      }
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

  /** Executes a statement for each row. {@return for which it has found something} */
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
              "the driver does not say what each statement of a batch has changed (expected:"
                  + " useBulkStmts=false)",
              null);
        }
        done[i] = counts[i] > 0;
      }
    }
    return done;
  }

  /**
   * Deletes rows that are locked already, each by its whole key: a condition for many may be
   * checked on all rows, and waits for those that others have locked.
   */
  static <T> void deleteLocked(Connection connection, String from, List<T> keys, Columns<T> key)
      throws SQLException {
    if (!keys.isEmpty()) {
      boolean[] unused = each(connection, "DELETE FROM " + from, keys, key);
    }
  }
}
