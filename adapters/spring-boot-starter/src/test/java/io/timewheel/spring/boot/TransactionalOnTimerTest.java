// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.TransactionFiring;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerState;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.HikariDataSourcePoolMetadata;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Verifies that the database changes of a transactional method happen exactly once. */
@Timeout(120)
@Tag("promise-66")
class TransactionalOnTimerTest {
  private final Database database = TestDatabases.postgresql().createDatabase();
  private final HikariDataSource pool = database.pool(16);

  /** A connection outside the transactions, which reads only committed data. */
  private final JdbcTemplate outside = new JdbcTemplate(database.dataSource());

  private final ApplicationContextRunner withStore =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  TimewheelAutoConfiguration.class,
                  TimewheelDurableAutoConfiguration.class,
                  TimewheelTransactionAutoConfiguration.class))
          .withBean(DataSource.class, () -> pool)
          .withUserConfiguration(CurrentTransactionTimerTest.Store.class);

  private final ApplicationContextRunner withJdbc =
      withStore
          .withUserConfiguration(CurrentTransactionTimerTest.Jdbc.class)
          .withBean(Ledger.class);

  private final ApplicationContextRunner application = withJdbc.withBean(Work.class);

  @BeforeEach
  void createTable() {
    // Without a key, the table counts repeated effects.
    outside.execute("create table ledger (entry text)");
  }

  @AfterEach
  void close() {
    pool.close();
  }

  /** A fault that occurs in an attempt after its effect. */
  private interface Fault {
    void hit(TransactionFiring firing, Ledger ledger) throws Exception;
  }

  static class Work {
    private final Ledger ledger;
    Fault onFirstAttempt = (firing, ledger) -> {};

    Work(Ledger ledger) {
      this.ledger = ledger;
    }

    @OnTimer(value = "work", transactional = true, timeLimit = "30m")
    void work(TransactionFiring firing) throws Exception {
      ledger.enter(firing.id() + " " + firing.attempt());
      if (firing.attempt() == 1) {
        onFirstAttempt.hit(firing, ledger);
      }
    }
  }

  static class Ledger {
    private final JdbcTemplate jdbc;

    Ledger(JdbcTemplate jdbc) {
      this.jdbc = jdbc;
    }

    void enter(String entry) {
      jdbc.update("insert into ledger values (?)", entry);
    }

    int backend() {
      return requireNonNull(jdbc.queryForObject("select pg_backend_pid()", Integer.class));
    }

    @Transactional
    void enterInTransaction(String entry) {
      enter(entry);
    }

    @Transactional(propagation = Propagation.REQUIRES_NEW)
    void enterApart(String entry) {
      enter(entry);
    }

    @Transactional(rollbackFor = Exception.class)
    void fail() throws Exception {
      throw new Exception("checked");
    }

    @Transactional
    void setRollbackOnly() {
      TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
    }
  }

  private static TimerSpec spec(String id) {
    return TimerSpec.of("shop", id)
        .after(Duration.ZERO)
        .handler("work")
        .retry(new RetryPolicy(3, Duration.ofMillis(10), Duration.ofMillis(10)));
  }

  private List<String> entries() {
    return outside.queryForList("select entry from ledger order by entry", String.class);
  }

  private static TimerInfo awaitDone(ApplicationContext context, String id) {
    DurableTimer scheduler = context.getBean(DurableTimer.class);
    Eventually.holds(
        id + " is done",
        () ->
            scheduler
                .timer("shop", id)
                .get()
                .filter(info -> info.state() == TimerState.COMPLETED)
                .isPresent());
    return scheduler.timer("shop", id).get().orElseThrow();
  }

  private static TimerInfo fire(ApplicationContext context, Fault onFirstAttempt) {
    context.getBean(Work.class).onFirstAttempt = onFirstAttempt;
    context.getBean(DurableTimer.class).schedule(spec("a"));
    return awaitDone(context, "a");
  }

  private void failsOnce(Fault onFirstAttempt, String error) {
    application.run(
        context -> {
          TimerInfo info = fire(context, onFirstAttempt);
          assertThat(info.attempts().get(0).error()).contains(error);
          assertThat(entries()).containsExactly("a 2");
        });
  }

  // Commit

  @Test
  void warnsIfTheMethodsCanHoldAllConnections() {
    assertThat(start(withJdbc.withBean(Fitting.class).withBean(One.class)))
        .containsExactly(
            "transactional @OnTimer methods can hold all connections of the pool: the limits of 2"
                + " methods add up to 17 attempts, and the pool has 16 connections (expected: at"
                + " least 24, 7 of them for the store, or lower limits)");
  }

  @Test
  void logsNothingIfTheMethodsLeaveConnections() {
    assertThat(start(withJdbc.withBean(Fitting.class))).isEmpty();
  }

  private static List<String> start(ApplicationContextRunner runner) {
    ApplicationContextRunner pooled =
        runner.withBean(
            DataSourcePoolMetadataProvider.class,
            () -> source -> new HikariDataSourcePoolMetadata((HikariDataSource) source));
    return Log.of(() -> pooled.run(context -> assertThat(context).hasNotFailed())).stream()
        .filter(message -> message.contains("pool"))
        .toList();
  }

  static class Fitting {
    @OnTimer(value = "fitting", transactional = true, limit = 16)
    void work() {}
  }

  static class One {
    @OnTimer(value = "one", transactional = true, limit = 1)
    void work() {}
  }

  @Test
  void effectIsCommittedWithTheTimer() {
    application.run(
        context -> {
          AtomicInteger seen = new AtomicInteger(-1);
          TimerInfo info =
              fire(
                  context,
                  (firing, ledger) -> {
                    JdbcClient.create(pool).sql("insert into ledger values ('client')").update();
                    ledger.enterInTransaction("joined");
                    seen.set(entries().size());
                  });
          assertThat(seen).as("seen by others before the commit").hasValue(0);
          assertThat(info.attempts()).hasSize(1);
          assertThat(entries()).containsExactly("a 1", "client", "joined");
        });
  }

  @Test
  void nextTimerIsScheduledInTheSameTransaction() {
    application.run(
        context -> {
          CurrentTransactionTimer timer = context.getBean(CurrentTransactionTimer.class);
          TimerInfo info =
              fire(
                  context,
                  (firing, ledger) -> {
                    if (firing.id().equals("a")) {
                      timer.schedule(spec("b"));
                    }
                  });
          awaitDone(context, "b");
          assertThat(info.attempts()).hasSize(1);
          assertThat(entries()).containsExactly("a 1", "b 1");
        });
  }

  @Test
  void nextTimerIsRolledBackWithTheAttempt() {
    application.run(
        context -> {
          CurrentTransactionTimer timer = context.getBean(CurrentTransactionTimer.class);
          fire(
              context,
              (firing, ledger) -> {
                timer.schedule(spec("b"));
                throw new IllegalStateException("no stock");
              });
          assertThat(context.getBean(DurableTimer.class).timer("shop", "b").get()).isEmpty();
          assertThat(entries()).containsExactly("a 2");
        });
  }

  // Rollback

  @Test
  void rollsBackWhenTheMethodThrows() {
    failsOnce(
        (firing, ledger) -> {
          throw new Exception("no stock");
        },
        "no stock");
  }

  @Test
  void rollsBackIfAJoinedMethodRequestsIt() {
    failsOnce((firing, ledger) -> ledger.setRollbackOnly(), "was marked as rollback-only");
  }

  @Test
  void rollsBackIfTheMethodHidesAnInnerRollback() {
    failsOnce(
        (firing, ledger) -> {
          try {
            ledger.fail();
          } catch (Exception e) {
            assertThat(e).hasMessage("checked");
          }
        },
        "was marked as rollback-only");
  }

  @Test
  void rollsBackWhenAListenerBeforeTheCommitThrows() {
    failsOnce(
        (firing, ledger) ->
            TransactionSynchronizationManager.registerSynchronization(
                new TransactionSynchronization() {
                  @Override
                  public void beforeCommit(boolean readOnly) {
                    throw new IllegalArgumentException("a listener");
                  }
                }),
        "a listener");
  }

  /** The manager treats this exception as a failure of its own commit, and does not roll back. */
  @Test
  void effectAndRecordStayTogetherIfAListenerThrows() {
    application.run(
        context -> {
          fire(
              context,
              (firing, ledger) ->
                  TransactionSynchronizationManager.registerSynchronization(
                      new TransactionSynchronization() {
                        @Override
                        public void beforeCommit(boolean readOnly) {
                          throw new TransactionSystemException("a listener");
                        }
                      }));
          assertThat(entries()).hasSize(1);
        });
  }

  @Test
  void separateTransactionIsNotRolledBack() {
    application.run(
        context -> {
          fire(
              context,
              (firing, ledger) -> {
                ledger.enterApart("apart");
                throw new IllegalStateException("no stock");
              });
          assertThat(entries()).containsExactly("a 2", "apart");
        });
  }

  // Killed and lost attempts

  @Test
  void isKilledBetweenEffectAndRecord() {
    failsOnce(
        (firing, ledger) -> {
          String kill = "select pg_terminate_backend(" + ledger.backend() + ", 10000)";
          assertThat(outside.queryForObject(kill, Boolean.class)).isTrue();
        },
        "the database: ");
  }

  @Test
  void transactionEndedBehindTheManagerIsDetected() {
    failsOnce(
        (firing, ledger) -> {
          Connection connection = DataSourceUtils.getConnection(pool);
          connection.rollback();
          DataSourceUtils.releaseConnection(connection, pool);
        },
        "has ended the transaction");
  }

  @Test
  void answerToCommitIsLost() {
    runWithCommit(Connection::commit, "a 1");
  }

  @Test
  void commitIsLost() {
    runWithCommit(Connection::rollback, "a 2");
  }

  private interface Commit {
    void of(Connection connection) throws SQLException;
  }

  /** The fault of the first commit on the method's thread: its answer is lost. */
  private void runWithCommit(Commit commit, String expected) {
    AtomicReference<Thread> loser = new AtomicReference<>();
    DataSource lossy =
        intercepted(
            DataSource.class,
            pool,
            call ->
                call.getMethod().getName().equals("getConnection")
                    ? intercepted(
                        Connection.class,
                        (Connection) call.proceed(),
                        of -> {
                          if (!of.getMethod().getName().equals("commit")
                              || !loser.compareAndSet(Thread.currentThread(), null)) {
                            return of.proceed();
                          }
                          commit.of((Connection) of.getThis());
                          throw new SQLException("the connection is gone", "08006");
                        })
                    : call.proceed());
    application
        .withBean("lossy", DataSource.class, () -> lossy, definition -> definition.setPrimary(true))
        .run(
            context -> {
              TimerInfo info = fire(context, (firing, ledger) -> loser.set(Thread.currentThread()));
              assertThat(entries()).containsExactly(expected);
              assertThat(info.attempts()).hasSize(expected.equals("a 1") ? 1 : 2);
            });
  }

  private static <T> T intercepted(Class<T> type, T target, MethodInterceptor interceptor) {
    ProxyFactory factory = new ProxyFactory(target);
    factory.setInterfaces(type);
    factory.addAdvice(interceptor);
    return type.cast(factory.getProxy());
  }

  @Test
  void failureAfterTheCommitRevokesNothing() {
    application.run(
        context -> {
          TimerInfo info =
              fire(
                  context,
                  (firing, ledger) ->
                      TransactionSynchronizationManager.registerSynchronization(
                          new TransactionSynchronization() {
                            @Override
                            public void afterCommit() {
                              throw new IllegalStateException("the mail about it");
                            }
                          }));
          assertThat(info.attempts()).hasSize(1);
          assertThat(entries()).containsExactly("a 1");
        });
  }

  // JPA

  @Test
  void jpaWritesAreCommittedWithTheTimer() {
    withStore
        .withUserConfiguration(CurrentTransactionTimerTest.Jpa.class)
        .withBean(Visits.class)
        .run(
            context -> {
              context.getBean(DurableTimer.class).schedule(spec("a"));
              TimerInfo info = awaitDone(context, "a");
              assertThat(info.attempts()).hasSize(3);
              assertThat(info.attempts().get(0).error()).contains("no visit");
              assertThat(info.attempts().get(1).error()).contains("visit_pkey");
              assertThat(info.attempts().get(2).end()).isEqualTo(Attempt.End.SUCCEEDED);
              assertThat(outside.queryForList("select id from visit order by id", String.class))
                  .containsExactly("a 3", "taken");
              assertThat(entries()).containsExactly("a 3");
            });
  }

  static class Visits {
    private final EntityManager entities;
    private final JdbcTemplate jdbc;

    Visits(EntityManagerFactory factory, DataSource source) {
      entities = SharedEntityManagerCreator.createSharedEntityManager(factory);
      jdbc = new JdbcTemplate(source);
      jdbc.update("insert into visit values ('taken')");
    }

    @OnTimer(value = "work", transactional = true)
    void work(TransactionFiring firing) {
      jdbc.update("insert into ledger values (?)", firing.id() + " " + firing.attempt());
      // JPA writes the row with the flush that follows.
      entities.persist(
          new Visit(firing.attempt() == 2 ? "taken" : firing.id() + " " + firing.attempt()));
      if (firing.attempt() == 1) {
        throw new IllegalStateException("no visit");
      }
    }
  }

  // Limits

  @Test
  void fourAttemptsRunAtATimeUnlessALimitIsSet() {
    withJdbc
        .withBean(Crowd.class)
        .run(
            context -> {
              Crowd crowd = context.getBean(Crowd.class);
              DurableTimer scheduler = context.getBean(DurableTimer.class);
              for (int i = 0; i < 8; i++) {
                scheduler.schedule(spec("crowd-" + i).handler("crowd"));
              }
              Eventually.zero(crowd.four);
              crowd.mayGo.countDown();
              for (int i = 0; i < 8; i++) {
                awaitDone(context, "crowd-" + i);
              }
              assertThat(crowd.most).hasValue(4);
            });
  }

  static class Crowd {
    final CountDownLatch four = new CountDownLatch(4);
    final CountDownLatch mayGo = new CountDownLatch(1);
    final AtomicInteger most = new AtomicInteger();
    private final AtomicInteger present = new AtomicInteger();

    @OnTimer(value = "crowd", transactional = true)
    void enter() throws InterruptedException {
      most.accumulateAndGet(present.incrementAndGet(), Math::max);
      four.countDown();
      mayGo.await();
      present.decrementAndGet();
    }
  }

  @Test
  void timeLimitIsTheTimeoutOfTheTransaction() {
    application.run(
        context -> {
          AtomicInteger secondsLeft = new AtomicInteger();
          fire(
              context,
              (firing, ledger) -> {
                Object holder = TransactionSynchronizationManager.getResource(pool);
                secondsLeft.set(((ConnectionHolder) holder).getTimeToLiveInSeconds());
              });
          assertThat(secondsLeft).hasValueBetween(1, 1800);
        });
  }
}
