// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;

/** Opens the store that the settings name. */
final class Stores {
  /** As many requests as may read a database at a time. */
  static final int READS = 8;

  /** As many as the store takes at a time for its own work. */
  private static final int OWN_CONNECTIONS = 6;

  /** What is silent is given up while there is time left to save the lease of the node. */
  private static final int SILENCE_SECONDS = 8;

  private static final int POOL_PATIENCE_MILLIS = 3_000;

  private Stores() {}

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
    HikariConfig pool = new HikariConfig();
    pool.setPoolName("timewheel-store");
    pool.setJdbcUrl(options.store);
    pool.setUsername(options.storeUser);
    pool.setPassword(options.storePassword());
    pool.setMaximumPoolSize(OWN_CONNECTIONS + READS + 1); // and one to see the cluster
    pool.setMinimumIdle(OWN_CONNECTIONS);
    pool.setConnectionTimeout(POOL_PATIENCE_MILLIS);
    for (String limit : List.of("socketTimeout", "connectTimeout")) { // unless the URL says more
      pool.addDataSourceProperty(limit, Integer.toString(SILENCE_SECONDS));
    }
    String node = InetAddress.getLocalHost().getHostName() + ":" + ProcessHandle.current().pid();
    return JdbcTimerStore.postgresqlBuilder(new HikariDataSource(pool)).node(node).open();
  }
}
