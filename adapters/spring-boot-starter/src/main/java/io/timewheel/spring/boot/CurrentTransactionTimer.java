// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.BatchResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.ScheduleResult;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.TransactionTimer;
import io.timewheel.durable.jdbc.TransactionTimers;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.TimerKey;
import java.sql.Connection;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Schedules and cancels durable timers in Spring's current transaction. So, for example, an order
 * and its timer are committed together, or neither is. {@link TransactionTimer} describes each
 * call.
 *
 * <p>The transaction is that of the calling thread on the {@link DataSource} bean.
 * {@code @Transactional} or a {@code TransactionTemplate} begins it, with a {@code
 * JdbcTransactionManager} or a {@code DataSourceTransactionManager}. A {@code
 * JpaTransactionManager} works too, because it shares its connection. Without a transaction, a call
 * throws an {@link IllegalStateException}, as with {@code Propagation.MANDATORY}, because a timer
 * committed alone would survive a rollback of its data. To commit a timer alone, use {@link
 * DurableTimer}.
 *
 * <p>Thread-safe: each thread has its own transaction.
 */
public final class CurrentTransactionTimer {
  private final TransactionTimers timers;
  private final DataSource source;

  CurrentTransactionTimer(TransactionTimers timers, DataSource source) {
    this.timers = timers;
    this.source = source;
  }

  /**
   * Schedules a timer, or replaces the one with the same identity, if the transaction commits.
   *
   * @param spec the timer to schedule
   * @return the result, valid once the transaction commits
   */
  public ScheduleResult schedule(TimerSpec spec) {
    return call(timer -> timer.schedule(spec));
  }

  /**
   * Schedules many timers, each independently.
   *
   * @param specs the timers to schedule
   * @return the result for each, in the same order
   */
  public List<BatchResult<ScheduleResult>> scheduleAll(Collection<TimerSpec> specs) {
    return call(timer -> timer.scheduleAll(specs));
  }

  /**
   * Cancels a timer, if the transaction commits.
   *
   * @param namespace its namespace
   * @param id its ID
   * @return whether the cancel is in time
   */
  public CancelResult cancel(String namespace, String id) {
    return call(timer -> timer.cancel(namespace, id));
  }

  /**
   * Cancels a timer if it has a given version.
   *
   * @param key its identity
   * @param version the version; 0 for any
   * @return whether the cancel is in time
   */
  public CancelResult cancel(TimerKey key, long version) {
    return call(timer -> timer.cancel(key, version));
  }

  /**
   * Cancels many timers, each independently.
   *
   * @param keys their identities
   * @return the result for each, in the same order
   */
  public List<BatchResult<CancelResult>> cancelAll(Collection<TimerKey> keys) {
    return call(timer -> timer.cancelAll(keys));
  }

  private <T> T call(Function<TransactionTimer, T> call) {
    Connection connection = connection(source);
    try {
      return call.apply(timers.in(connection));
    } finally {
      DataSourceUtils.releaseConnection(connection, source);
    }
  }

  /** {@return the connection of the current transaction, for the caller to release} */
  static Connection connection(DataSource source) {
    if (!TransactionSynchronizationManager.isActualTransactionActive()) {
      throw new IllegalStateException(
          "no transaction (expected: a call within a transaction, such as in a @Transactional"
              + " method)");
    }
    // Check first: a connection requested here would be bound to the thread, and would then look
    // like the connection of the transaction.
    if (!TransactionSynchronizationManager.hasResource(source)) {
      throw new IllegalStateException(
          "the transaction has no connection of the DataSource bean (expected: a transaction"
              + " manager on it)");
    }
    return DataSourceUtils.getConnection(source);
  }
}
