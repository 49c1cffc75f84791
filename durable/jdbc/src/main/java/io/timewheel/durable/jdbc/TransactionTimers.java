// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.durable.jdbc.internal.handler.AttemptHandler;
import io.timewheel.durable.jdbc.internal.handler.BatchingHandler;
import io.timewheel.durable.jdbc.internal.handler.HandlerRunner;
import io.timewheel.durable.jdbc.internal.handler.HandlerTransactions;
import io.timewheel.durable.jdbc.internal.handler.SingleHandler;
import io.timewheel.durable.jdbc.internal.handler.StoreTables;
import io.timewheel.durable.jdbc.internal.handler.TransactionChanges;
import io.timewheel.durable.jdbc.internal.handler.UserTransactionHandler;
import io.timewheel.durable.spi.FinishingHandler;
import java.sql.Connection;
import java.time.Instant;
import java.util.function.Consumer;

/**
 * Schedules durable timers in transactions of the user, and runs handlers in transactions. An order
 * and its timer are written together, or neither is. The database changes of a handler take effect
 * exactly once.
 *
 * <pre>{@code
 * JdbcTimerStore store = JdbcTimerStore.postgresql(dataSource);
 * TransactionTimers timers = TransactionTimers.of(store);
 * DurableTimer scheduler = DurableTimer.builder(store)
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

  private TransactionTimers(JdbcTimerStore store, Consumer<DurableTimerBuilder> settings) {
    this.store = requireNonNull(store, "store");
    this.settings = requireNonNull(settings, "settings");
    tables = new StoreTables(store.transactions(), store.server());
  }

  /**
   * Creates the transactional timers of a store.
   *
   * @param store the store
   * @return its timers
   */
  public static TransactionTimers of(JdbcTimerStore store) {
    return of(store, builder -> {});
  }

  /**
   * Creates the transactional timers of a store, with settings of its {@link DurableTimer}: the
   * codec, the clock, and the limit on timers of a namespace. Other settings have no effect.
   *
   * @param store the store
   * @param settings applies the settings; called for each transaction
   * @return its timers
   */
  public static TransactionTimers of(JdbcTimerStore store, Consumer<DurableTimerBuilder> settings) {
    return new TransactionTimers(store, settings);
  }

  /**
   * Returns the timers in a transaction. When it commits, it notifies other nodes of timers that
   * are due within 1 s, unless the store was opened without notifications. If the time of a timer
   * has passed by the commit, the timer fires at most 30 s after the commit. If the transaction
   * took less than 5 s, the timer fires within 0.5 s of the commit; if less than a minute, within 5
   * s. A transaction with notifications cannot be prepared for two-phase commit.
   *
   * @param connection a connection to the database and the schema of the store, not in auto-commit
   *     mode, with isolation READ COMMITTED
   * @return its timers, usable until the transaction ends
   */
  public TransactionTimer in(Connection connection) {
    requireNonNull(connection, "connection");
    DurableTimerBuilder builder =
        DurableTimer.builder(store).clock(() -> Instant.ofEpochMilli(store.clock().millis()));
    settings.accept(builder);
    return new TransactionTimer(
        builder.direct(new TransactionChanges(store.writer(), store.server(), tables, connection)));
  }

  /**
   * Creates a handler whose effects happen exactly once, for {@link
   * DurableTimerBuilder#finishingHandler}.
   *
   * @param handler the handler
   * @return the argument for the builder. The pool needs a connection for each concurrent attempt,
   *     in addition to the seven of the store
   */
  public FinishingHandler handler(TransactionHandler handler) {
    return new SingleHandler(single(handler));
  }

  /**
   * Creates a handler like {@link #handler(TransactionHandler)}, but in transactions that a
   * framework begins and ends on its own connections. This method runs one transaction as a check.
   *
   * @param handler the handler
   * @param runner begins and ends the transactions
   * @return the argument for the builder. The runner needs a connection for each concurrent attempt
   * @throws IllegalStateException if the runner's transactions cannot be used for timers, for
   *     example because they lead to another database than the store
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
   * Creates a handler that takes many firings in one transaction, and whose effects happen exactly
   * once. At most two such transactions run at a time. Timers that become due meanwhile form the
   * next batch. If a batch fails, it is rolled back, and each of its firings is handled in a
   * transaction of its own. With a {@code maxBatch} of 1, it is like {@link
   * #handler(TransactionHandler)}: only the max concurrency limits its transactions.
   *
   * @param handler the handler
   * @param maxBatch the maximum number of firings in one transaction
   * @return the argument for {@link DurableTimerBuilder#finishingHandler}, with a max concurrency
   *     of at least twice {@code maxBatch}; it uses two connections
   */
  public FinishingHandler batchHandler(TransactionBatchHandler handler, int maxBatch) {
    requireNonNull(handler, "handler");
    if (maxBatch < 1 || maxBatch > store.traits().maxBatch()) {
      throw new IllegalArgumentException(
          "maxBatch: " + maxBatch + " (expected: 1 to " + store.traits().maxBatch() + ")");
    }
    HandlerTransactions transactions =
        transactions(
            (attempts, connection) ->
                handler.handle(attempts.stream().map(TransactionFiring::new).toList(), connection));
    return maxBatch == 1
        ? new SingleHandler(transactions)
        : new BatchingHandler(transactions, maxBatch);
  }
}
