// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.shop;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.context.annotation.Bean;

/** The shop. README.md describes how to run it, in one process or several. */
@SpringBootApplication(proxyBeanMethods = false)
public class ShopApplication {
  /** Called by Spring. */
  public ShopApplication() {}

  /**
   * Runs the shop.
   *
   * @param args properties, such as {@code --shop.pay-within=10s}
   */
  public static void main(String[] args) {
    SpringApplication.run(ShopApplication.class, args);
  }

  // Timers are in the database of the orders, but use a separate connection pool. If requests held
  // all connections of a shared pool, a node could not renew its lease and would lose it. A node
  // needs six connections.
  // begin: store
  @Bean(defaultCandidate = false)
  static HikariDataSource timerConnections(DataSourceProperties database) {
    HikariDataSource pool =
        database.initializeDataSourceBuilder().type(HikariDataSource.class).build();
    pool.setPoolName("timers");
    pool.setMaximumPoolSize(7);
    pool.setConnectionTimeout(3_000);
    pool.addDataSourceProperty("socketTimeout", "8"); // seconds; MariaDB: 8000
    return pool;
  }

  @Bean
  static JdbcTimerStore timerStore(@Qualifier("timerConnections") HikariDataSource connections) {
    return JdbcTimerStore.postgresql(connections);
  }
  // end
}
