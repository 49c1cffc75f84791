// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.logging.Logger;
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

  /** {@return a source of connections without a pool: each is opened when asked for} */
  public DataSource dataSource() {
    return new Unpooled(this);
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

  private record Unpooled(Database database) implements DataSource {
    @Override
    public Connection getConnection() throws SQLException {
      return database.connect();
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
      return new Database(database.url, user, password).connect();
    }

    @Override
    public PrintWriter getLogWriter() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void setLogWriter(PrintWriter out) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void setLoginTimeout(int seconds) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int getLoginTimeout() {
      return 0;
    }

    @Override
    public Logger getParentLogger() {
      return Logger.getLogger("io.timewheel");
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
      throw new SQLException("wraps nothing");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
      return false;
    }
  }
}
