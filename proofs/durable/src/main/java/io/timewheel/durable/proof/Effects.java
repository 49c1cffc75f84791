// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.jdbc.TransactionFiring;
import io.timewheel.durable.jdbc.TransactionHandler;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.model.TimerKey;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Handles firings in transactions, and writes each effect into a ledger. The ledger has no key, so
 * it contains an effect as often as it happened. Some attempts fail afterwards.
 */
final class Effects implements TransactionHandler {
  /** The fault of an effect outside the transaction of its handler. */
  static final String OUTSIDE = "outside";

  private static final int MAX_PAUSE_MILLIS = 20;

  private final Log log;
  private final @Nullable Random random;
  private final @Nullable DataSource outside;

  /**
   * Creates a handler.
   *
   * @param random decides how attempts end; null if all succeed
   * @param outside the data source for effects outside the transaction; null for none
   */
  Effects(Log log, @Nullable Random random, @Nullable DataSource outside) {
    this.log = log;
    this.random = random;
    this.outside = outside;
  }

  static void createLedger(Database database) throws SQLException {
    database.execute(
        "CREATE TABLE ledger (namespace varchar(100), id varchar(100), version bigint,"
            + " scheduled_at bigint, attempt integer)");
  }

  /** Logs the content of the ledger. */
  static void log(Database database, Log log) throws SQLException {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT namespace, id, version, scheduled_at, attempt FROM ledger")) {
      while (rows.next()) {
        log.effect(
            new TimerKey(rows.getString(1), rows.getString(2)),
            rows.getLong(3),
            rows.getLong(4),
            rows.getInt(5));
      }
    }
  }

  @Override
  public void handle(TransactionFiring firing, Connection connection) throws Exception {
    log.began(
        firing.key(),
        firing.version(),
        firing.scheduledAt().toEpochMilli(),
        firing.attempt(),
        System.currentTimeMillis(),
        ByteBuffer.wrap(firing.payload()).getInt());
    if (outside == null) {
      write(firing, connection);
    } else {
      try (Connection other = outside.getConnection()) {
        write(firing, other);
      }
    }
    if (random == null) {
      return;
    }
    switch (random.nextInt(10)) {
      case 0 -> throw new IllegalStateException("no luck");
      case 1, 2 -> Thread.sleep(random.nextInt(MAX_PAUSE_MILLIS));
      default -> {}
    }
  }

  private static void write(TransactionFiring firing, Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("INSERT INTO ledger VALUES (?, ?, ?, ?, ?)")) {
      statement.setString(1, firing.namespace());
      statement.setString(2, firing.id());
      statement.setLong(3, firing.version());
      statement.setLong(4, firing.scheduledAt().toEpochMilli());
      statement.setInt(5, firing.attempt());
      statement.executeUpdate();
    }
  }
}
