// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static java.util.Objects.requireNonNull;

import io.timewheel.PolledTimer;
import io.timewheel.Timer;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.durable.jdbc.internal.handler.AttemptHandler;
import io.timewheel.durable.jdbc.internal.handler.BatchingHandler;
import io.timewheel.durable.jdbc.internal.handler.HandlerRunner;
import io.timewheel.durable.jdbc.internal.handler.HandlerTransactions;
import io.timewheel.durable.jdbc.internal.handler.StoreTables;
import io.timewheel.durable.jdbc.internal.handler.TransactionStore;
import io.timewheel.durable.jdbc.internal.handler.UserTransactionHandler;
import io.timewheel.durable.spi.FinishingHandler;
import java.sql.Connection;
import java.time.Instant;
import java.util.function.Consumer;

/**
 * Durable timers in transactions of the user: an order and its timer are written together, or
 * neither is; and what a handler does to the database is done exactly once.
 *
 * <pre>{@code
 * JdbcTimerStore store = JdbcTimerStore.postgresql(dataSource);
 * TransactionTimers timers = TransactionTimers.of(store);
 * DurableTimer timer = DurableTimer.builder(store)
 *     .finishingHandler("orders.cancel", timers.handler((firing, connection) -> …), 8)
 *     .start();
 *
 * connection.setAutoCommit(false);
 * orders.insert(connection, order);
 * timers.in(connection).schedule(TimerSpec.of("shop", order.id())
 *     .after(Duration.ofMinutes(30))
 *     .handler("orders.cancel"));
 * connection.commit();
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class TransactionTimers {
  private final JdbcTimerStore store;
  private final StoreTables tables;
  private final Consumer<DurableTimerBuilder> settings;

  /** Nothing ever waits on it. */
  private final Timer wheel = PolledTimer.create();

  private TransactionTimers(JdbcTimerStore store, Consumer<DurableTimerBuilder> settings) {
    this.store = requireNonNull(store, "store");
    this.settings = requireNonNull(settings, "settings");
    tables = new StoreTables(store.transactions(), store.server());
  }

  /**
   * Makes timers of a store usable in transactions.
   *
   * @param store the store
   * @return its timers
   */
  public static TransactionTimers of(JdbcTimerStore store) {
    return of(store, builder -> {});
  }

  /**
   * Makes timers of a store usable in transactions, with the settings that the {@link DurableTimer}
   * has: its codec, its clock, and how many timers a namespace may have. Others do no harm.
   *
   * @param store the store
   * @param settings makes the settings; called for each transaction
   * @return its timers
   */
  public static TransactionTimers of(JdbcTimerStore store, Consumer<DurableTimerBuilder> settings) {
    return new TransactionTimers(store, settings);
  }

  /**
   * The timers in a transaction. Nodes are notified when it commits of what is due within a second
   * by then, unless the store was opened without hints; what it puts in later than its time fires
   * half a minute after the commit at the latest, and within half a second if the transaction took
   * less than a minute. A transaction with hints cannot be prepared for two-phase commit.
   *
   * @param connection the connection, to the database and the schema of the store, not in
   *     auto-commit mode, with isolation READ COMMITTED
   * @return its timers, until the transaction ends
   */
  public TransactionTimer in(Connection connection) {
    requireNonNull(connection, "connection");
    return new TransactionTimer(
        new TransactionStore(store, store.writer(), store.server(), tables, connection),
        session -> {
          DurableTimerBuilder builder =
              DurableTimer.builder(session)
                  .clock(() -> Instant.ofEpochMilli(store.clock().millis()));
          settings.accept(builder);
          return builder.timer(wheel);
        });
  }

  /**
   * A handler whose effects happen exactly once, for {@link DurableTimerBuilder#finishingHandler}.
   *
   * @param handler the handler
   * @return what to give to the builder, with a limit that the pool has connections for: one for
   *     each attempt that runs, beside the six of the store
   */
  public FinishingHandler handler(TransactionHandler handler) {
    return single(handler)::handle;
  }

  /**
   * The same in transactions that somebody else begins and ends, such as a framework, on
   * connections of its own. One transaction is tried at once.
   *
   * @param handler the handler
   * @param runner begins and ends its transactions
   * @return what to give to the builder, with a limit that the runner has connections for
   * @throws IllegalStateException if the runner's transactions are no place for timers: they lead
   *     elsewhere than the store, for example
   */
  public FinishingHandler handler(TransactionHandler handler, TransactionRunner runner) {
    requireNonNull(runner, "runner");
    UserTransactionHandler made =
        new UserTransactionHandler(store.transactions(), tables, single(handler), runner(runner));
    made.check();
    return made;
  }

  private static HandlerRunner runner(TransactionRunner runner) {
    return work ->
        runner.run(
            new TransactionRunner.Work() {
              @Override
              public void handle(Connection connection) throws Exception {
                work.handle(connection);
              }

              @Override
              public void finish() {
                work.finish();
              }
            });
  }

  private HandlerTransactions transactions(AttemptHandler handler) {
    return new HandlerTransactions(store.transactions(), store.writer(), store.server(), handler);
  }

  private HandlerTransactions single(TransactionHandler handler) {
    requireNonNull(handler, "handler");
    return transactions(
        (attempts, connection) ->
            handler.handle(new TransactionFiring(attempts.get(0)), connection));
  }

  /**
   * A handler that takes many firings in one transaction, whose effects happen exactly once. What
   * is due while two such transactions run makes up the next one. One that fails is rolled back,
   * and each of its firings is handled again in a transaction of its own.
   *
   * @param handler the handler
   * @param maxBatch how many firings one transaction takes at most
   * @return what to give to {@link DurableTimerBuilder#finishingHandler}, with a limit of at least
   *     twice {@code maxBatch}; it uses two connections
   */
  public FinishingHandler batchHandler(TransactionBatchHandler handler, int maxBatch) {
    requireNonNull(handler, "handler");
    if (maxBatch < 1 || maxBatch > store.traits().maxBatch()) {
      throw new IllegalArgumentException(
          "maxBatch: " + maxBatch + " (expected: 1 to " + store.traits().maxBatch() + ")");
    }
    return new BatchingHandler(
        transactions(
            (attempts, connection) ->
                handler.handle(attempts.stream().map(TransactionFiring::new).toList(), connection)),
        maxBatch);
  }
}
