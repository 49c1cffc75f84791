// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/** Opens the store that the settings name. */
final class Stores {
  private static final Pattern DATABASE = Pattern.compile("jdbc:(postgresql|mariadb):.*");

  /** As many requests as may read a database at a time. */
  static final int READS = 8;

  /** As many as the store takes at a time for its own work. */
  private static final int OWN_CONNECTIONS = 6;

  /** What is silent is given up while there is time left to save the lease of the node. */
  private static final Duration SILENCE = Duration.ofSeconds(8);

  private static final int POOL_PATIENCE_MILLIS = 3_000;

  private Stores() {}

  /** {@return whether nodes can share the database that a URL of JDBC names} */
  static boolean canBeShared(String url) {
    return DATABASE.matcher(url).matches();
  }

  /** {@return what kind of store it is, for people} */
  static String kind(ServeOptions options) {
    String url = options.database.store;
    return url == null ? "rocksdb" : databaseKind(url);
  }

  private static String databaseKind(String url) {
    return DATABASE.matcher(url).replaceAll("$1");
  }

  /** {@return what to call it, for people} */
  static String name(ServeOptions options) {
    String url = options.database.store;
    return url == null ? options.data.toString() : url.replaceFirst("\\?.*", "");
  }

  /**
   * Opens the store. The pool of a database ends with the process: closed with the store, it would
   * end below what the timer still has to write.
   *
   * @throws IOException if the password cannot be read
   */
  static TimerStore open(ServeOptions options) throws IOException {
    String url = options.database.store;
    if (url == null) {
      return RocksTimerStore.open(options.data);
    }
    HikariDataSource pool = new HikariDataSource(pool(options.database, url));
    return builder(url, pool).node(host() + ":" + ProcessHandle.current().pid()).open();
  }

  static JdbcTimerStore.Builder builder(String url, DataSource source) {
    return isMariaDb(url)
        ? JdbcTimerStore.mariadbBuilder(source)
        : JdbcTimerStore.postgresqlBuilder(source);
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown"; // its own name is in no DNS, as in some containers
    }
  }

  private static boolean isMariaDb(String url) {
    return databaseKind(url).equals("mariadb");
  }

  /** {@return the pool of a command, whose statements may take their time} */
  static HikariConfig smallPool(DatabaseOptions options, String url) throws IOException {
    HikariConfig pool = pool(options, url);
    pool.setMaximumPoolSize(2);
    pool.setMinimumIdle(0);
    pool.getDataSourceProperties().remove("socketTimeout");
    pool.setInitializationFailTimeout(-1); // a caller that asks for a connection is told
    return pool;
  }

  static HikariConfig pool(DatabaseOptions options, String url) throws IOException {
    HikariConfig pool = new HikariConfig();
    pool.setPoolName("timewheel-store");
    pool.setJdbcUrl(url);
    pool.setUsername(options.storeUser);
    pool.setPassword(options.storePassword());
    pool.setMaximumPoolSize(OWN_CONNECTIONS + READS + 1); // and one to see the cluster
    pool.setMinimumIdle(OWN_CONNECTIONS);
    pool.setConnectionTimeout(POOL_PATIENCE_MILLIS);
    // As each driver counts.
    long silence = isMariaDb(url) ? SILENCE.toMillis() : SILENCE.toSeconds();
    for (String limit : List.of("socketTimeout", "connectTimeout")) { // unless the URL says more
      pool.addDataSourceProperty(limit, Long.toString(silence));
    }
    return pool;
  }
}
