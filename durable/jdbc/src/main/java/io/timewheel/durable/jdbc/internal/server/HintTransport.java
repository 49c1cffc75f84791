// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.sql.Statements;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Carries hints between nodes, where the database has notifications. */
public interface HintTransport {
  /** {@return the name under which nodes on the same tables exchange hints} */
  String channel(Connection connection) throws SQLException;

  /** Sends a hint to other nodes, if the transaction commits. */
  void send(Statements to, String channel, String text);

  /** {@return whether a commit may have been refused because a hint went with it} */
  boolean isRefusal(SQLException failure);

  void listen(Connection connection, String channel) throws SQLException;

  void unlisten(Connection connection, String channel) throws SQLException;

  /** Waits for hints. {@return those that came; none after the timeout} */
  List<String> receive(Connection connection, int timeoutMillis) throws SQLException;
}
