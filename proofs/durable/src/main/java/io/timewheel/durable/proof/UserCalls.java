// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.jdbc.TransactionTimer;
import io.timewheel.durable.jdbc.TransactionTimers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Calls for timers in transactions of a user. */
final class UserCalls {
  private final TransactionTimers timers;
  private final DataSource source;

  UserCalls(TransactionTimers timers, DataSource source) {
    this.timers = timers;
    this.source = source;
  }

  /**
   * {@return the result of the call; null if it is unknown whether the transaction was committed}
   */
  <T> @Nullable T call(Function<TransactionTimer, T> call, boolean commits) {
    try (Connection connection = source.getConnection()) {
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      try {
        T result = call.apply(timers.in(connection));
        if (commits) {
          connection.commit();
        }
        return result;
      } finally {
        connection.rollback();
      }
    } catch (SQLException | RuntimeException e) {
      return null;
    }
  }
}
