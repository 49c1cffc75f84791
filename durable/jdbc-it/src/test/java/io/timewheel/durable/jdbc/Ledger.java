// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.FinishingHandler;
import io.timewheel.testing.Await;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Runs an engine whose handlers write to a ledger: a table without a unique key, which records each
 * effect as often as it happens.
 */
final class Ledger implements AutoCloseable {
  static final RetryPolicy AT_ONCE =
      new RetryPolicy(3, Duration.ofMillis(10), Duration.ofMillis(10));

  private final Server server;
  private final Prepared prepared;
  final HikariDataSource pool;
  final LossySource source;
  final JdbcTimerStore store;
  final TransactionTimers timers;
  private DurableTimer scheduler;

  Ledger(Server server) {
    this(server, () -> {});
  }

  /**
   * @param onPause called instead of each wait of the store
   */
  Ledger(Server server, Runnable onPause) {
    this.server = server;
    prepared = Prepared.take(server);
    pool = prepared.database().pool(16);
    pool.setMinimumIdle(1);
    source = new LossySource(pool);
    execute("CREATE TABLE ledger (id text, attempt integer)");
    JdbcTimerStoreBuilder builder = server.builder(source).shards(4);
    builder.pauses = millis -> onPause.run();
    store = builder.notifications(false).open();
    timers = TransactionTimers.of(store);
  }

  /** Starts a scheduler with one handler. */
  DurableTimer start(Function<TransactionTimers, FinishingHandler> handler, int limit) {
    scheduler =
        DurableTimer.builder(store)
            .finishingHandler("orders", handler.apply(timers), limit)
            .start();
    return scheduler;
  }

  /** Starts a scheduler with one handler under several names. */
  DurableTimer start(List<String> names, FinishingHandler handler, Executor threads) {
    DurableTimerBuilder builder = DurableTimer.builder(store).handlerExecutor(threads);
    names.forEach(name -> builder.finishingHandler(name, handler, 1));
    scheduler = builder.start();
    return scheduler;
  }

  static TimerSpec spec(String id) {
    return TimerSpec.of("shop", id).after(Duration.ZERO).handler("orders").retry(AT_ONCE);
  }

  /** Writes the effect of a handler. */
  static void write(TransactionFiring firing, Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("INSERT INTO ledger VALUES (?, ?)")) {
      statement.setString(1, firing.id());
      statement.setInt(2, firing.attempt());
      statement.executeUpdate();
    }
  }

  /** Kills the server end of a connection. */
  void kill(Connection connection) throws SQLException {
    long number;
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT " + server.ownConnection())) {
      rows.next();
      number = rows.getLong(1);
    }
    execute(server.kill(number));
  }

  void execute(String sql) {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the effects: ids and attempts. */
  List<String> effects() {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT concat(id, ' ', attempt) FROM ledger ORDER BY id, attempt")) {
      List<String> effects = new ArrayList<>();
      while (rows.next()) {
        effects.add(rows.getString(1));
      }
      return effects;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Reads a timer until it meets a condition. */
  TimerInfo await(String id, Predicate<TimerInfo> condition) {
    TimerInfo[] latest = new TimerInfo[1];
    Await.until(
        () -> {
          latest[0] = scheduler.timer("shop", id).get().orElseThrow();
          return condition.test(latest[0]);
        });
    return latest[0];
  }

  TimerInfo awaitDone(String id) {
    return await(id, info -> info.state() == TimerState.COMPLETED);
  }

  @Override
  public void close() {
    if (scheduler == null) {
      store.close();
    } else {
      scheduler.close();
    }
    pool.close();
    prepared.giveBack();
  }
}
