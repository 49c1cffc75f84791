// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;

/** The tables: made when they are missing, and refused when they are of an unknown format. */
final class Schema {
  static final int FORMAT = 1;
  private static final int NONE = 0;

  private final Dialect dialect;

  Schema(Dialect dialect) {
    this.dialect = dialect;
  }

  /** The statements that make the tables, for a session that commits each by itself. */
  String sql(int shards) {
    StringBuilder sql = new StringBuilder("START TRANSACTION;\n");
    for (String statement : dialect.migration(FORMAT)) {
      sql.append(statement).append('\n');
    }
    return sql.append(shardRows(shards)).append("COMMIT;\n").toString();
  }

  private static String shardRows(int shards) {
    StringBuilder sql = new StringBuilder("INSERT INTO timewheel_meta VALUES ('shards', ");
    sql.append(shards).append(");\nINSERT INTO timewheel_shard (shard, epoch) VALUES (0, 0)");
    for (int shard = 1; shard < shards; shard++) {
      sql.append(", (").append(shard).append(", 0)");
    }
    return sql.append(";\n").toString();
  }

  /**
   * Makes the tables if there are none.
   *
   * @param shards how many shards they are to have
   * @return how many they have
   */
  int open(Transactions transactions, int shards) {
    int found = transactions.read(this::shards);
    return found != NONE
        ? found
        : transactions.write(
            connection -> {
              dialect.lockSchema(connection);
              try {
                int meanwhile = shards(connection);
                if (meanwhile == NONE) {
                  make(connection, shards);
                }
                connection.commit(); // before anybody else may look
                return meanwhile == NONE ? shards : meanwhile;
              } finally {
                dialect.unlockSchema(connection);
              }
            });
  }

  private void make(Connection connection, int shards) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String migration : dialect.migration(FORMAT)) {
        statement.execute(migration);
      }
      for (String rows : shardRows(shards).split("(?<=;)\n", -1)) {
        if (!rows.isEmpty()) {
          statement.execute(rows);
        }
      }
    }
  }

  /** How many shards the tables have; {@link #NONE} if there are no tables. */
  private int shards(Connection connection) throws SQLException {
    dialect.check(connection);
    if (!dialect.hasSchema(connection)) {
      return NONE;
    }
    Map<String, Long> meta = new HashMap<>();
    try (PreparedStatement statement =
            connection.prepareStatement("SELECT name, value FROM timewheel_meta");
        ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        meta.put(rows.getString(1), rows.getLong(2));
      }
    }
    Long format = meta.get("format");
    Long shards = meta.get("shards");
    if (format == null || format != FORMAT || shards == null) {
      throw new StoreException(
          Kind.UNAVAILABLE,
          "the tables have format " + format + " (expected: " + FORMAT + ")",
          null);
    }
    return shards.intValue();
  }
}
