// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import java.io.IOException;
import java.net.InetAddress;

/** Opens the store that the settings name. */
final class Stores {
  /** As many as the store takes at a time. */
  private static final int CONNECTIONS = 6;

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
    pool.setMaximumPoolSize(CONNECTIONS);
    String node = InetAddress.getLocalHost().getHostName() + ":" + ProcessHandle.current().pid();
    return JdbcTimerStore.postgresqlBuilder(new HikariDataSource(pool)).node(node).open();
  }
}
