// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.MariaDbSql.SETTINGS;
import static io.timewheel.durable.jdbc.MariaDbSql.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.timewheel.durable.spi.FinishingHandler;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Runs the tests of handlers in transactions that a runner begins, on MariaDB. */
class MariaDbTransactionRunnerTest extends MariaDbTransactionHandlerTest {
  @Override
  FinishingHandler finishing(TransactionTimers timers, TransactionHandler handler) {
    return timers.handler(handler, TransactionRunnerTest.runner(ledger.source));
  }

  /** On MariaDB, the user can change this setting. */
  @Override
  void theServerLimitsTheIdleTimeOfAHandler() {}

  @Test
  void settingsOfTheSessionAreTheUsers() throws SQLException {
    String usual;
    try (Connection connection = ledger.pool.getConnection()) {
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      usual = text(connection, SETTINGS);
    }
    List<String> seen = new CopyOnWriteArrayList<>();
    fire((firing, connection) -> seen.add(text(connection, SETTINGS)));
    assertThat(seen).containsExactly(usual);
  }

  @Test
  void refusesATransactionThatKeepsASnapshot() {
    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                ledger.timers.handler(
                    (firing, connection) -> {},
                    work -> {
                      try (Connection connection = ledger.pool.getConnection()) {
                        connection.setAutoCommit(false);
                        work.handle(connection);
                      }
                    }))
        .withMessageContaining("READ COMMITTED");
  }
}
