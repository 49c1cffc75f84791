// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.store;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.JdbcTimerStoreBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A database that nodes share, and its connection pools. */
public final class SharedDatabase {
  private static final Pattern DATABASE = Pattern.compile("jdbc:(postgresql|mariadb):.*");

  /** The number of requests that may read the database at a time. */
  static final int READS = 8;

  /** The number of connections that the store uses for its own work. */
  private static final int OWN_CONNECTIONS = 7;

  /** A silent connection is closed while there is time left to renew the node lease. */
  private static final Duration SILENCE = Duration.ofSeconds(8);

  private static final int POOL_TIMEOUT_MILLIS = 3_000;

  private final String url;
  private final @Nullable String user;
  private final Password password;

  /** The source of a password. */
  public interface Password {
    /** {@return the password; null if the database needs none} */
    @Nullable String read() throws IOException;
  }

  public SharedDatabase(String url, @Nullable String user, Password password) {
    this.url = url;
    this.user = user;
    this.password = password;
  }

  /** {@return whether nodes can share the database of a JDBC URL} */
  public static boolean canBeShared(String url) {
    return DATABASE.matcher(url).matches();
  }

  /** {@return the kind of database, for people} */
  String kind() {
    return DATABASE.matcher(url).replaceAll("$1");
  }

  /** {@return the URL without its parameters, for people} */
  String name() {
    return url.replaceFirst("\\?.*", "");
  }

  /**
   * Opens the store. The pool stays open until the process exits: if it closed with the store, the
   * last writes of the timer would fail.
   *
   * @throws IOException if the password cannot be read
   */
  JdbcTimerStore open() throws IOException {
    HikariDataSource pool = new HikariDataSource(pool());
    return builder(pool).node(host() + ":" + ProcessHandle.current().pid()).open();
  }

  public JdbcTimerStoreBuilder builder(DataSource source) {
    return isMariaDb()
        ? JdbcTimerStore.mariadbBuilder(source)
        : JdbcTimerStore.postgresqlBuilder(source);
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown"; // in some containers, the host name is in no DNS
    }
  }

  private boolean isMariaDb() {
    return kind().equals("mariadb");
  }

  /** {@return the pool of a command, whose statements may take long} */
  public HikariConfig smallPool() throws IOException {
    HikariConfig pool = pool();
    pool.setMaximumPoolSize(2);
    pool.setMinimumIdle(0);
    pool.getDataSourceProperties().remove("socketTimeout");
    pool.setInitializationFailTimeout(-1); // a caller that asks for a connection receives the error
    return pool;
  }

  HikariConfig pool() throws IOException {
    HikariConfig pool = new HikariConfig();
    pool.setPoolName("timewheel-store");
    pool.setJdbcUrl(url);
    pool.setUsername(user);
    pool.setPassword(password.read());
    pool.setMaximumPoolSize(OWN_CONNECTIONS + READS + 2); // the cluster view and the probe
    pool.setMinimumIdle(OWN_CONNECTIONS);
    pool.setConnectionTimeout(POOL_TIMEOUT_MILLIS);
    // Each driver has its own unit.
    long silence = isMariaDb() ? SILENCE.toMillis() : SILENCE.toSeconds();
    for (String limit : List.of("socketTimeout", "connectTimeout")) { // if not in the URL
      pool.addDataSourceProperty(limit, Long.toString(silence));
    }
    return pool;
  }
}
