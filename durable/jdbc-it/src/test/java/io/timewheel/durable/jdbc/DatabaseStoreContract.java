// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.TimerStoreContract;
import java.io.IOException;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;

/** Runs the contract of stores on a database, with tables that another role may have created. */
abstract class DatabaseStoreContract extends TimerStoreContract {
  private static Prepared prepared;
  private static HikariDataSource latest;

  Database owned;
  HikariDataSource pool;
  JdbcTimerStore opened;

  /**
   * {@return the database as the role of the store sees it}
   *
   * @param owned the database as the owner of the tables sees it
   */
  abstract Database seen(Database owned) throws SQLException, IOException;

  @Override
  protected TimerStore create() {
    endTheLatest(); // whose store is closed only after all methods of a subclass
    prepared = Prepared.take(Server.of(this));
    owned = prepared.database();
    try {
      pool = seen(owned).pool(6);
    } catch (SQLException | IOException e) {
      throw new IllegalStateException(e);
    }
    pool.setMinimumIdle(1);
    latest = pool;
    opened = Server.of(this).builder(pool).open();
    return opened;
  }

  @Override
  protected TimerStore reopen(TimerStore closed) {
    return Server.of(this).builder(pool).open();
  }

  @AfterAll
  static void endTheLatest() {
    if (prepared != null) {
      latest.close();
      prepared.giveBack();
      prepared = null;
    }
  }
}
