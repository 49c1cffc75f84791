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
 * A database on a server, with a user that owns only this database.
 *
 * @param url its JDBC URL
 * @param user the name of the owner
 * @param password the password of the owner
 */
public record Database(String url, String user, String password) {
  /** {@return the same database through another port of this machine, for example of a proxy} */
  public Database through(int port) {
    return new Database(url.replaceFirst(":\\d+/", ":" + port + "/"), user, password);
  }

  /** {@return the same database with an additional driver parameter in its URL} */
  public Database with(String parameter, Object value) {
    String separator = url.contains("?") ? "&" : "?";
    return new Database(url + separator + parameter + "=" + value, user, password);
  }

  /** Opens a connection. */
  public Connection connect() throws SQLException {
    return DriverManager.getConnection(url, user, password);
  }

  /** Executes a statement on a new connection. */
  public void execute(String sql) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** {@return the number in the first row of a query's result} */
  public long number(String sql) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  /** {@return a data source without a pool: each request opens a connection} */
  public DataSource dataSource() {
    return new BareDataSource() {
      @Override
      public Connection getConnection() throws SQLException {
        return connect();
      }
    };
  }

  /** {@return a pool of this many connections, which the caller must close} */
  public HikariDataSource pool(int connections) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setUsername(user);
    config.setPassword(password);
    config.setMaximumPoolSize(connections);
    // Wait for a server that is down, like a pool that has been open for long.
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }
}
