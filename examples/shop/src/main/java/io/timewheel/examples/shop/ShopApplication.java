// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.shop;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.context.annotation.Bean;

/** The shop; see README.md for how to run it, as often as you like beside each other. */
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

  /**
   * Timers live where orders do, but on connections of their own: a process that has to wait for
   * one, because its requests hold all of them, would lose its lease. It needs six.
   */
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
}
