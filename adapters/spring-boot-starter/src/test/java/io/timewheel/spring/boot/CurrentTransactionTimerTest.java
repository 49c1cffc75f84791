// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.PayloadCodec;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.TransactionTimers;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerStore;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.support.TransactionTemplate;

@Timeout(120)
@Tag("promise-65")
class CurrentTransactionTimerTest {
  private HikariDataSource pool = TestDatabases.postgresql().createDatabase().pool(12);
  private final JdbcTemplate jdbc = new JdbcTemplate(pool);

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  TimewheelAutoConfiguration.class,
                  TimewheelDurableAutoConfiguration.class,
                  TimewheelTransactionAutoConfiguration.class))
          .withBean(DataSource.class, () -> pool)
          .withUserConfiguration(Store.class);

  @Configuration(proxyBeanMethods = false)
  static class Store {
    @Bean
    JdbcTimerStore store(DataSource source) {
      return JdbcTimerStore.postgresql(source);
    }
  }

  /** The beans of an application on JDBC. */
  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(proxyTargetClass = true)
  static class Jdbc {
    @Bean
    JdbcTemplate jdbcTemplate(DataSource source) {
      return new JdbcTemplate(source);
    }

    @Bean
    PlatformTransactionManager transactionManager(DataSource source) {
      return new DataSourceTransactionManager(source);
    }
  }

  /** The beans of an application on JPA. */
  @Configuration(proxyBeanMethods = false)
  static class Jpa {
    @Bean
    LocalContainerEntityManagerFactoryBean entityManagerFactory(DataSource source) {
      LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
      factory.setDataSource(source);
      factory.setPackagesToScan(Visit.class.getPackageName());
      factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
      factory.setJpaPropertyMap(Map.of("hibernate.hbm2ddl.auto", "create"));
      return factory;
    }

    @Bean
    PlatformTransactionManager transactionManager(EntityManagerFactory factory) {
      return new JpaTransactionManager(factory);
    }
  }

  @BeforeEach
  void createTable() {
    jdbc.execute("create table purchases (id text, state text)");
  }

  @AfterEach
  void close() {
    pool.close();
  }

  private static TimerSpec spec(String id) {
    return TimerSpec.of("shop", id).after(Duration.ofHours(1)).handler("orders.cancel");
  }

  private static TransactionTemplate transaction(DataSource source) {
    return new TransactionTemplate(new DataSourceTransactionManager(source));
  }

  private static boolean isScheduled(ApplicationContext context, String id) {
    return context.getBean(DurableTimer.class).timer("shop", id).get().stream()
        .anyMatch(timer -> timer.state() == TimerState.SCHEDULED);
  }

  private long count(String what) {
    Long count = jdbc.queryForObject("select count(*) from " + what, Long.class);
    return count == null ? -1 : count;
  }

  @Test
  void orderAndTimerAreCommittedTogether() {
    runner
        .withUserConfiguration(Jdbc.class)
        .withBean(Purchases.class)
        .run(
            context -> {
              Purchases purchases = context.getBean(Purchases.class);
              purchases.placed("a");
              assertThat(isScheduled(context, "a")).isTrue();
              assertThat(count("purchases")).isOne();

              assertThat(purchases.paid("a")).isTrue();
              assertThat(isScheduled(context, "a")).isFalse();

              jdbc.execute("drop table purchases");
              assertThatThrownBy(() -> purchases.placed("b")).hasMessageContaining("purchases");
              assertThat(isScheduled(context, "b")).isFalse();
            });
  }

  @Test
  void everyCallIsCommittedOrRolledBackWithTheTransaction() {
    runner.run(
        context -> {
          CurrentTransactionTimer timer = context.getBean(CurrentTransactionTimer.class);
          Consumer<Boolean> schedule =
              rollback ->
                  transaction(pool)
                      .executeWithoutResult(
                          status -> {
                            timer.schedule(spec("a"));
                            timer.scheduleAll(List.of(spec("b"), spec("c")));
                            assertThat(isScheduled(context, "a")).isFalse();
                            if (rollback) {
                              status.setRollbackOnly();
                            }
                          });
          schedule.accept(true);
          assertThat(count("timewheel_timer")).isZero();
          schedule.accept(false);
          assertThat(count("timewheel_timer")).isEqualTo(3);

          Consumer<Boolean> cancel =
              rollback ->
                  transaction(pool)
                      .executeWithoutResult(
                          status -> {
                            assertThat(timer.cancel("shop", "a").outcome())
                                .isEqualTo(CancelResult.Outcome.CANCELLED);
                            assertThat(timer.cancel(new TimerKey("shop", "b"), 0).outcome())
                                .isEqualTo(CancelResult.Outcome.CANCELLED);
                            assertThat(timer.cancelAll(List.of(new TimerKey("shop", "c"))))
                                .allMatch(result -> result.error() == null);
                            if (rollback) {
                              status.setRollbackOnly();
                            }
                          });
          cancel.accept(true);
          assertThat(count("timewheel_timer")).isEqualTo(3);
          cancel.accept(false);
          assertThat(count("timewheel_timer")).isZero();
        });
  }

  @Test
  void sharesTheTransactionOfJpa() {
    runner
        .withUserConfiguration(Jpa.class)
        .run(
            context -> {
              CurrentTransactionTimer timer = context.getBean(CurrentTransactionTimer.class);
              EntityManager entities =
                  SharedEntityManagerCreator.createSharedEntityManager(
                      context.getBean(EntityManagerFactory.class));
              Consumer<Boolean> visit =
                  rollback ->
                      new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
                          .executeWithoutResult(
                              status -> {
                                entities.persist(new Visit("a"));
                                timer.schedule(spec("a"));
                                if (rollback) {
                                  status.setRollbackOnly();
                                }
                              });
              visit.accept(true);
              assertThat(count("visit")).isZero();
              assertThat(isScheduled(context, "a")).isFalse();
              visit.accept(false);
              assertThat(count("visit")).isOne();
              assertThat(isScheduled(context, "a")).isTrue();

              // The commit fails after the timer was written, because the row already exists.
              assertThatThrownBy(
                      () ->
                          new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
                              .executeWithoutResult(
                                  status -> {
                                    entities.persist(new Visit("a"));
                                    timer.schedule(spec("b"));
                                  }))
                  .hasMessageContaining("visit");
              assertThat(isScheduled(context, "b")).isFalse();
            });
  }

  @Test
  void refusesWithoutATransaction() {
    runner.run(
        context -> {
          CurrentTransactionTimer timer = context.getBean(CurrentTransactionTimer.class);
          assertThatIllegalStateException()
              .isThrownBy(() -> timer.schedule(spec("a")))
              .withMessageStartingWith("no transaction (expected: ");
          assertThat(count("timewheel_timer")).isZero();
        });
  }

  @Test
  void refusesATransactionOfAnotherDataSource() {
    Database elsewhere = TestDatabases.postgresql().createDatabase();
    HikariConfig config = new HikariConfig();
    pool.copyStateTo(config);
    // So that a connection outside the transaction would look like a part of it.
    config.setAutoCommit(false);
    pool.close();
    pool = new HikariDataSource(config);
    runner.run(
        context -> {
          CurrentTransactionTimer timer = context.getBean(CurrentTransactionTimer.class);
          transaction(elsewhere.dataSource())
              .executeWithoutResult(
                  status ->
                      assertThatIllegalStateException()
                          .isThrownBy(() -> timer.schedule(spec("a")))
                          .withMessageContaining("no connection of the DataSource bean"));
        });
  }

  @Test
  void refusesATransactionThatIsReadOnlyOrKeepsASnapshot() {
    runner.run(
        context -> {
          CurrentTransactionTimer timer = context.getBean(CurrentTransactionTimer.class);
          TransactionTemplate readOnly = transaction(pool);
          readOnly.setReadOnly(true);
          assertThatIllegalStateException()
              .isThrownBy(() -> readOnly.execute(status -> timer.schedule(spec("a"))))
              .withMessageContaining("read-only");
          TransactionTemplate snapshot = transaction(pool);
          snapshot.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
          assertThatIllegalStateException()
              .isThrownBy(() -> snapshot.execute(status -> timer.schedule(spec("a"))))
              .withMessageContaining("READ COMMITTED");
        });
  }

  @Test
  void payloadsAreThoseOfTheApplication() throws InterruptedException {
    CountDownLatch fired = new CountDownLatch(1);
    runner
        .withBean(PayloadCodec.class, Texts::new)
        .withBean(
            DurableTimerCustomizer.class,
            () ->
                builder ->
                    builder.handler(
                        "orders.cancel",
                        firing -> {
                          assertThat(firing.payload()).isEqualTo(new byte[] {'o', 'k'});
                          fired.countDown();
                        }))
        .run(
            context -> {
              CurrentTransactionTimer timer = context.getBean(CurrentTransactionTimer.class);
              transaction(pool)
                  .executeWithoutResult(
                      status ->
                          timer.schedule(spec("a").after(Duration.ZERO).payload((Object) "ok")));
              Eventually.zero(fired);
            });
  }

  @Test
  void handlerRunsInTheTransactionOfItsTimer() {
    runner
        .withUserConfiguration(ExactlyOnce.class)
        .run(
            context -> {
              CurrentTransactionTimer timer = context.getBean(CurrentTransactionTimer.class);
              transaction(pool)
                  .executeWithoutResult(status -> timer.schedule(spec("a").after(Duration.ZERO)));
              Eventually.holds(
                  "the effect of the handler",
                  () -> count("purchases where id = 'a' and state = 'CANCELLED'") == 1);
              assertThat(count("timewheel_timer")).isZero();
            });
  }

  @Configuration(proxyBeanMethods = false)
  static class ExactlyOnce {
    @Bean
    DurableTimerCustomizer handlers(TransactionTimers timers) {
      return builder ->
          builder.finishingHandler(
              "orders.cancel",
              timers.handler(
                  (firing, connection) ->
                      connection
                          .createStatement()
                          .execute(
                              "insert into purchases values ('" + firing.id() + "', 'CANCELLED')")),
              2);
    }
  }

  @Test
  void existsOnlyWithAStoreInADatabase() {
    new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(TimewheelTransactionAutoConfiguration.class))
        .withBean(DataSource.class, () -> pool)
        .withBean(TimerStore.class, InMemoryTimerStore::create)
        .run(context -> assertThat(context).doesNotHaveBean(CurrentTransactionTimer.class));
    for (String absent : List.of("io.timewheel.durable.jdbc", "org.springframework.jdbc")) {
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(TimewheelTransactionAutoConfiguration.class))
          .withClassLoader(new FilteredClassLoader(absent))
          .run(context -> assertThat(context).hasNotFailed());
    }
  }

  private static final class Texts implements PayloadCodec {
    @Override
    public byte[] encode(Object payload) {
      return payload.toString().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public <T> T decode(byte[] payload, Class<T> type) {
      return type.cast(new String(payload, StandardCharsets.UTF_8));
    }
  }
}
