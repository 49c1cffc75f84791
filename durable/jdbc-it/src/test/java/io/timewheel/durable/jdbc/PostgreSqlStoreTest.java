// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.TimerStoreContract;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;

class PostgreSqlStoreTest extends TimerStoreContract {
  private static final List<HikariDataSource> POOLS = new ArrayList<>();

  private HikariDataSource pool;

  @Override
  protected TimerStore create() {
    closePools(); // of earlier tests: a server has 100 connections
    pool = Server.of(this).empty().pool(6);
    pool.setMinimumIdle(1);
    POOLS.add(pool);
    return Server.of(this).builder(pool).open();
  }

  @Override
  protected TimerStore reopen(TimerStore closed) {
    return Server.of(this).builder(pool).open();
  }

  @AfterAll
  static void closePools() {
    POOLS.forEach(HikariDataSource::close);
    POOLS.clear();
  }
}
