// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.sql.Statements;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Sends and receives notifications on databases that support them. */
public interface NotificationTransport {
  /** {@return the name under which nodes on the same tables exchange notifications} */
  String channel(Connection connection) throws SQLException;

  /** Sends a notification to other nodes, if the transaction commits. */
  void send(Statements to, String channel, String text);

  /**
   * {@return whether the database may have refused a commit because it contained a notification}
   */
  boolean isRefusal(SQLException failure);

  void listen(Connection connection, String channel) throws SQLException;

  void unlisten(Connection connection, String channel) throws SQLException;

  /**
   * Waits for notifications.
   *
   * @return the received notifications; none after the timeout
   */
  List<String> receive(Connection connection, int timeoutMillis) throws SQLException;
}
