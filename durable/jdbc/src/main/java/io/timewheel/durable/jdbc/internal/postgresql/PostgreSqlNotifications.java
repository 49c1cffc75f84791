// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.postgresql;

import io.timewheel.durable.jdbc.internal.server.NotificationTransport;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** Sends and receives notifications by NOTIFY and LISTEN. */
final class PostgreSqlNotifications implements NotificationTransport {
  @Override
  public String channel(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery("SELECT 'timewheel_' || left(md5(current_schema()), 16)")) {
      rows.next();
      return rows.getString(1);
    }
  }

  @Override
  public void send(Statements to, String channel, String text) {
    Answer<Boolean> unused =
        to.query(
            "SELECT pg_notify(?, ?)", values -> values.text(channel).text(text), ResultSet::next);
  }

  @Override
  public void listen(Connection connection, String channel) throws SQLException {
    Sql.execute(connection, "LISTEN " + channel);
  }

  @Override
  public void unlisten(Connection connection, String channel) throws SQLException {
    Sql.execute(connection, "UNLISTEN " + channel);
  }

  @Override
  public List<String> receive(Connection connection, int timeoutMillis) throws SQLException {
    List<String> notifications = new ArrayList<>();
    for (PGNotification notification :
        connection.unwrap(PGConnection.class).getNotifications(timeoutMillis)) {
      notifications.add(notification.getParameter());
    }
    return notifications;
  }

  /** Returns whether the queue of notifications was full, which only COMMIT reports. */
  @Override
  public boolean isRefusal(SQLException failure) {
    return PostgreSqlErrors.state(failure).equals("54000");
  }
}
