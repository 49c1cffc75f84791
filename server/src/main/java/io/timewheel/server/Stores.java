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
    return options.store == null ? "rocksdb" : DATABASE.matcher(options.store).replaceAll("$1");
  }

  /** {@return what to call it, for people} */
  static String name(ServeOptions options) {
    return options.store == null
        ? options.data.toString()
        : options.store.replaceFirst("\\?.*", "");
  }

  /**
   * Opens the store. The pool of a database ends with the process: closed with the store, it would
   * end below what the timer still has to write.
   *
   * @throws IOException if the password cannot be read
   */
  static TimerStore open(ServeOptions options) throws IOException {
    if (options.store == null) {
      return RocksTimerStore.open(options.data);
    }
    boolean mariadb = isMariaDb(options);
    HikariDataSource pool = new HikariDataSource(pool(options));
    return (mariadb ? JdbcTimerStore.mariadbBuilder(pool) : JdbcTimerStore.postgresqlBuilder(pool))
        .node(host() + ":" + ProcessHandle.current().pid())
        .open();
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown"; // its own name is in no DNS, as in some containers
    }
  }

  private static boolean isMariaDb(ServeOptions options) {
    return kind(options).equals("mariadb");
  }

  static HikariConfig pool(ServeOptions options) throws IOException {
    HikariConfig pool = new HikariConfig();
    pool.setPoolName("timewheel-store");
    pool.setJdbcUrl(options.store);
    pool.setUsername(options.storeUser);
    pool.setPassword(options.storePassword());
    pool.setMaximumPoolSize(OWN_CONNECTIONS + READS + 1); // and one to see the cluster
    pool.setMinimumIdle(OWN_CONNECTIONS);
    pool.setConnectionTimeout(POOL_PATIENCE_MILLIS);
    // As each driver counts.
    long silence = isMariaDb(options) ? SILENCE.toMillis() : SILENCE.toSeconds();
    for (String limit : List.of("socketTimeout", "connectTimeout")) { // unless the URL says more
      pool.addDataSourceProperty(limit, Long.toString(silence));
    }
    return pool;
  }
}
