// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Verifies that an unavailable database is reported, and that nodes continue when it is back. */
@ResourceLock(OutageTest.LOG)
@Timeout(300)
@Tag("promise-62")
class OutageTest {
  /** The log of all stores in this JVM. Other tests that write to it must not run concurrently. */
  static final String LOG = "log";

  private static final Logger LOGGER = Logger.getLogger(JdbcTimerStore.class.getName());

  final DatabaseServer server = Server.of(this).server();
  private final Database database = server.createDatabase();
  private final HikariDataSource pool = database.pool(8);
  private final BlockingQueue<String> warnings = new LinkedBlockingQueue<>();
  private final CountDownLatch fired = new CountDownLatch(2);
  private final Handler handler = new Warnings();
  private final DurableTimer scheduler;

  String readOnlyReason() {
    return "in a read-only transaction";
  }

  /** Returns the statement that makes a session read-only. */
  String readOnlySession() {
    return "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY";
  }

  private final class Warnings extends Handler {
    @Override
    public void publish(LogRecord line) {
      if (line.getLevel().intValue() >= Level.WARNING.intValue()) {
        warnings.add(line.getMessage());
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  OutageTest() {
    pool.setConnectionTimeout(1_000);
    LOGGER.addHandler(handler);
    JdbcTimerStoreBuilder builder = Server.of(this).builder(pool);
    builder.lease = Duration.ofSeconds(3); // renewed every second
    scheduler =
        DurableTimer.builder(builder.open()).handler("orders", firing -> fired.countDown()).start();
  }

  @AfterEach
  void close() {
    scheduler.close();
    pool.close();
    LOGGER.removeHandler(handler);
  }

  private static TimerSpec spec(String id, Duration after) {
    return TimerSpec.of("shop", id).after(after).handler("orders");
  }

  /**
   * Repeats a call until it fails with the expected reason. The outcome of a call in progress when
   * the server stops may be unknown.
   */
  private void awaitRefusal(String reason) {
    String told = "";
    while (!told.contains(reason)) {
      try {
        scheduler.schedule(spec("far", Duration.ofDays(1)));
      } catch (DurableTimerException e) {
        if (e.reason() != DurableTimerException.Reason.UNKNOWN) {
          assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.STORE_UNAVAILABLE);
          told = e.getMessage();
        }
      }
    }
  }

  private void awaitWarning(String reason) throws InterruptedException {
    String warning = warnings.take();
    while (!warning.contains(reason)) {
      warning = warnings.take();
    }
  }

  private void awaitAcknowledgement(String id) {
    boolean acknowledged = false;
    while (!acknowledged) {
      try {
        scheduler.schedule(spec(id, Duration.ZERO));
        acknowledged = true;
      } catch (DurableTimerException e) {
        assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.STORE_UNAVAILABLE);
      }
    }
  }

  /**
   * Makes the database read-only, as an administrator might; a standby refuses writes in the same
   * way.
   */
  void setReadOnly(boolean readOnly) throws SQLException {
    String name = database.url().replaceFirst(".*/", "");
    try (Connection connection = server.administration().connect();
        Statement statement = connection.createStatement()) {
      statement.execute(
          "ALTER DATABASE " + name + " SET default_transaction_read_only = " + readOnly);
      statement.execute(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'");
    }
  }

  @Test
  void reportsAReadOnlyDatabaseAndContinuesWhenItIsWritable() throws Exception {
    scheduler.schedule(spec("before", Duration.ofSeconds(2)));
    setReadOnly(true);
    awaitRefusal(readOnlyReason());
    awaitWarning("the node lease cannot be renewed");
    setReadOnly(false);
    awaitAcknowledgement("after");
    fired.await();
  }

  /** The connections of a pooler lead to a primary that has become a standby. */
  @Test
  void keepsNoReadOnlyConnection() throws SQLException {
    try (HikariDataSource one = database.pool(1)) {
      JdbcTimerStore store = Server.of(this).builder(one).notifications(false).open();
      try (Connection connection = one.getConnection();
          Statement statement = connection.createStatement()) {
        statement.execute(readOnlySession());
      }
      List<Change> change = List.of(TransactionsTest.keyed("a"));
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> store.commit(change))
          .returns(StoreException.Kind.UNAVAILABLE, StoreException::kind);
      assertThat(store.commit(change).get(0).answer()).isEqualTo(Outcome.Answer.CREATED);
      store.close();
    }
  }

  @Test
  void reportsAStoppedServerAndContinuesWhenItIsBack() throws Exception {
    scheduler.schedule(spec("before", Duration.ofSeconds(2)));
    server.stop();
    try {
      awaitRefusal("no connection");
      awaitWarning("the node lease cannot be renewed");
    } finally {
      server.start();
    }
    awaitAcknowledgement("after");
    fired.await();
  }
}
