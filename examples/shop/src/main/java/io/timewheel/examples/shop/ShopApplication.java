// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.shop;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.context.annotation.Bean;

/** The shop; README.md describes how to run it, in any number of processes. */
@SpringBootApplication(proxyBeanMethods = false)
public class ShopApplication {
  /** For Spring. */
  public ShopApplication() {}

  /**
   * Runs the shop.
   *
   * @param args properties, such as {@code --shop.pay-within=10s}
   */
  public static void main(String[] args) {
    SpringApplication.run(ShopApplication.class, args);
  }

  // Timers are in the database of the orders, but have their own connections. If requests held all
  // connections, a node would wait for one and lose its lease. A node needs six.
  // begin: store
  @Bean(defaultCandidate = false)
  static HikariDataSource timerConnections(DataSourceProperties database) {
    HikariDataSource pool =
        database.initializeDataSourceBuilder().type(HikariDataSource.class).build();
    pool.setPoolName("timers");
    pool.setMaximumPoolSize(6);
    pool.setConnectionTimeout(3_000);
    return pool;
  }

  @Bean
  static JdbcTimerStore timerStore(@Qualifier("timerConnections") HikariDataSource connections) {
    return JdbcTimerStore.postgresql(connections);
  }
  // end
}
