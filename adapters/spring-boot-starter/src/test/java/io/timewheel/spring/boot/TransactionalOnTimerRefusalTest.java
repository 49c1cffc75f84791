// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.model.Firing;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * Verifies that the application does not start if a transactional method could not take effect
 * exactly once.
 */
@Timeout(120)
class TransactionalOnTimerRefusalTest {
  private final Database database = TestDatabases.postgresql().createDatabase();
  private final HikariDataSource pool = database.pool(12);

  private final ApplicationContextRunner withoutStore =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  TimewheelAutoConfiguration.class,
                  TimewheelDurableAutoConfiguration.class,
                  TimewheelTransactionAutoConfiguration.class))
          .withBean(DataSource.class, () -> pool);

  private final ApplicationContextRunner withStore =
      withoutStore.withUserConfiguration(CurrentTransactionTimerTest.Store.class);

  @AfterEach
  void close() {
    pool.close();
  }

  private static void refused(ApplicationContextRunner runner, Class<?> bean, String message) {
    runner
        .withBean(bean)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("@OnTimer(\"work\") on ")
                    .hasMessageContaining(message));
  }

  @Test
  void aTransactionManagerOfAnotherDataSource() {
    refused(
        withStore.withBean(
            PlatformTransactionManager.class,
            () -> new DataSourceTransactionManager(database.dataSource())),
        Work.class,
        "the transaction has no connection of the DataSource bean (expected: ");
  }

  @Test
  void aDatabaseThatIsNotTheStores() {
    refused(
        withoutStore.withUserConfiguration(
            CurrentTransactionTimerTest.Jdbc.class, StoreElsewhere.class),
        Work.class,
        "no tables of timers in its default schema (expected: ");
  }

  @Test
  void anotherStoreOfTheScheduler() {
    withStore
        .withUserConfiguration(CurrentTransactionTimerTest.Jdbc.class, InMemory.class)
        .withBean(Work.class)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith(
                        "timers in transactions would be in the store 'store', but the DurableTimer"
                            + " uses the store 'inMemory' (expected: "));
  }

  @Configuration(proxyBeanMethods = false)
  static class InMemory {
    @Bean
    @Primary
    InMemoryTimerStore inMemory() {
      return InMemoryTimerStore.create();
    }
  }

  @Test
  void anApplicationWithoutTransactions() {
    withStore
        .withBean(Work.class)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .hasMessageContaining(PlatformTransactionManager.class.getName()));
  }

  @Test
  void aMethodWithATransactionOfItsOwn() {
    refused(
        withStore.withUserConfiguration(CurrentTransactionTimerTest.Jdbc.class),
        Apart.class,
        "its @Transactional excludes it from the transaction of its timer (expected: ");
  }

  @Test
  void aFiringWhoseDecisionsWouldNotBeRecorded() {
    refused(
        withStore.withUserConfiguration(CurrentTransactionTimerTest.Jdbc.class),
        Misled.class,
        "its parameters (expected: a TransactionFiring, a payload, both or none, each once)");
  }

  @Configuration(proxyBeanMethods = false)
  static class StoreElsewhere {
    @Bean
    JdbcTimerStore store() {
      return JdbcTimerStore.postgresql(TestDatabases.postgresql().createDatabase().dataSource());
    }
  }

  static class Work {
    @OnTimer(value = "work", transactional = true)
    void work() {}
  }

  static class Apart {
    @Transactional(propagation = Propagation.REQUIRES_NEW)
    @OnTimer(value = "work", transactional = true)
    void work() {}
  }

  static class Misled {
    @OnTimer(value = "work", transactional = true)
    void work(Firing firing) {}
  }
}
