// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** SQLite alone: a table, an index by time, and a transaction for each batch, synced. */
final class SqliteFloor implements Subject {
  private final Connection connection;
  private final PreparedStatement insert;

  SqliteFloor(Path directory) throws SQLException {
    connection = DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("timers.sqlite"));
    try (Statement statement = connection.createStatement()) {
      statement.execute("pragma journal_mode = wal");
      statement.execute("pragma synchronous = full");
      statement.execute(
          "create table if not exists timers (id text primary key, due integer, payload blob)"
              + " without rowid");
      statement.execute("create index if not exists due on timers(due)");
    }
    connection.setAutoCommit(false);
    insert = connection.prepareStatement("insert or replace into timers values (?, ?, ?)");
  }

  @Override
  public synchronized void schedule(List<Order> orders) throws SQLException {
    for (Order order : orders) {
      insert.setString(1, order.id());
      insert.setLong(2, order.dueMillis());
      insert.setBytes(3, order.payloadBytes());
      insert.addBatch();
    }
    insert.executeBatch();
    connection.commit();
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
