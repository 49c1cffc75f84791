// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.MariaDbSql.execute;
import static io.timewheel.durable.jdbc.MariaDbSql.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.durable.TimerInfo;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Runs the tests of {@link TransactionHandlerTest} on MariaDB, as {@link MariaDbTest} describes.
 */
@On(Server.MARIADB)
class MariaDbTransactionHandlerTest extends TransactionHandlerTest {
  @Override
  @Test
  void rollsBackWhenAStatementOfTheHandlerFails() {
    TimerInfo info = fire((firing, connection) -> execute(connection, "SELECT 1 FROM nowhere"));
    assertThat(ledger.effects()).containsExactly("a 2");
    assertThat(info.attempts().get(0).error()).contains("nowhere");
  }

  /** A transaction stays usable after a failed statement, but not after a deadlock. */
  @Override
  @Test
  void anErrorThatTheHandlerHidesRollsBackToo() {
    ledger.execute("CREATE TABLE pair (id int PRIMARY KEY, n int)");
    ledger.execute("INSERT INTO pair VALUES (1, 0), (2, 0)");
    ledger.execute("CREATE TABLE weight (n int)");
    TimerInfo info =
        fire(
            (firing, connection) -> {
              try (Connection other = ledger.pool.getConnection()) {
                other.setAutoCommit(false);
                execute(other, "INSERT INTO weight SELECT seq FROM seq_1_to_1000");
                execute(other, "UPDATE pair SET n = 1 WHERE id = 2");
                execute(connection, "UPDATE pair SET n = 1 WHERE id = 1");
                CompletableFuture<Void> waits = CompletableFuture.runAsync(() -> update(other));
                assertThatExceptionOfType(SQLException.class)
                    .isThrownBy(() -> execute(connection, "UPDATE pair SET n = 2 WHERE id = 2"))
                    .returns(1213, SQLException::getErrorCode);
                waits.join();
                other.rollback();
              }
            });
    assertThat(info.attempts().get(0).error()).contains("has ended the transaction");
    assertThat(ledger.effects()).containsExactly("a 2");
  }

  private static void update(Connection other) {
    try {
      execute(other, "UPDATE pair SET n = 2 WHERE id = 1");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  @Test
  void theServerLimitsTheIdleTimeOfAHandler() throws SQLException {
    fire(
        (firing, connection) ->
            assertThat(text(connection, "SELECT @@idle_transaction_timeout")).isEqualTo("10"));
    assertThat(ledger.effects()).containsExactly("a 1");
  }
}
