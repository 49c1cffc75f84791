// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import io.timewheel.durable.benchmarks.database.Cpu;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;

/** A separate database on a server of this machine. */
final class ServerPlace implements Place {
  /** The servers. */
  enum Server {
    POSTGRESQL,
    MARIADB;

    String id() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Starts a server with its default durability, and with memory and a log for the workloads. */
    DatabaseServer start() {
      return switch (this) {
        case POSTGRESQL ->
            DatabaseServer.postgresql()
                .set("shared_buffers", "512MB")
                .set("max_wal_size", "8GB")
                .start();
        case MARIADB ->
            DatabaseServer.mariadb()
                .set("innodb-buffer-pool-size", "512M")
                .set("innodb-log-file-size", "2G")
                .start();
      };
    }
  }

  private final Server kind;
  private final DatabaseServer server;
  private final Database database;

  ServerPlace(Server kind, DatabaseServer server) {
    this.kind = kind;
    this.server = server;
    database = server.createDatabase();
  }

  Server kind() {
    return kind;
  }

  Database database() {
    return database;
  }

  /** Returns a transaction that has read a row, and so prevents the cleanup of old row versions. */
  Connection snapshot() throws SQLException {
    Connection connection = database.connect();
    connection.setAutoCommit(false);
    connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    try (var statement = connection.createStatement()) {
      statement.execute(
          kind == Server.POSTGRESQL
              ? "SELECT count(*) FROM pg_class"
              : "START TRANSACTION WITH CONSISTENT SNAPSHOT");
    }
    return connection;
  }

  @Override
  public long bytes() throws SQLException {
    return database.number(
        kind == Server.POSTGRESQL
            ? "SELECT sum(pg_total_relation_size(c.oid))"
                + " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                + " WHERE c.relkind = 'r' AND n.nspname NOT LIKE 'pg!_%' ESCAPE '!'"
                + " AND n.nspname <> 'information_schema'"
            : "SELECT sum(data_length + index_length) FROM information_schema.tables"
                + " WHERE table_schema = database()");
  }

  @Override
  public long serverCpuNanos() {
    return Cpu.ofServer(server);
  }
}
