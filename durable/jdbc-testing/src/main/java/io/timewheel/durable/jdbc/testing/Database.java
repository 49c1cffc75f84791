// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * One database on a server, and a user who owns it and nothing else.
 *
 * @param url where it is, for JDBC
 * @param user who owns it
 * @param password of the user
 */
public record Database(String url, String user, String password) {
  /** {@return the same database through another port of this machine, such as that of a proxy} */
  public Database through(int port) {
    return new Database(url.replaceFirst(":\\d+/", ":" + port + "/"), user, password);
  }

  /** {@return the same database with one more parameter of the driver in its URL} */
  public Database with(String parameter, Object value) {
    String separator = url.contains("?") ? "&" : "?";
    return new Database(url + separator + parameter + "=" + value, user, password);
  }

  /** Opens a connection. */
  public Connection connect() throws SQLException {
    return DriverManager.getConnection(url, user, password);
  }

  /** Executes a statement on a connection of its own. */
  public void execute(String sql) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** {@return the number that a query finds in its first row} */
  public long number(String sql) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  /** {@return a source of connections without a pool: each is opened when asked for} */
  public DataSource dataSource() {
    return new BareDataSource() {
      @Override
      public Connection getConnection() throws SQLException {
        return connect();
      }
    };
  }

  /** {@return a pool of so many connections, for the caller to close} */
  public HikariDataSource pool(int connections) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setUsername(user);
    config.setPassword(password);
    config.setMaximumPoolSize(connections);
    // It waits for a server that is down, like one that has been open for long.
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }
}
