// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.timewheel.durable.jdbc.testing.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What holds on PostgreSQL, through a pooler in transaction mode, as the guide says to use one. A
 * test that is overridden without {@code @Test} has no counterpart there.
 */
@SuppressWarnings("ClassCanBeStatic") // what is nested must not be, for JUnit
@Tag("proof")
class PoolerTest {
  /** Otherwise nothing here is tested. */
  @Test
  void aConnectionHasOtherSessionsOfTheServer() throws SQLException {
    Database database = Server.POOLER.empty();
    Set<Long> sessions = new HashSet<>();
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      for (int i = 0; i < 4; i++) {
        try (ResultSet rows = statement.executeQuery("SELECT " + Server.POOLER.ownConnection())) {
          rows.next();
          sessions.add(rows.getLong(1));
        }
      }
    }
    assertThat(sessions).hasSizeGreaterThan(1);
  }

  @Nested
  class Store extends PostgreSqlStoreTest {}

  @Nested
  class Commits extends TransactionsTest {}

  @Nested
  class Queue extends QueueTest {}

  @Nested
  class Leases extends OwnershipTest {}

  @Nested
  class TwoNodes extends TwoTimersTest {}

  @Nested
  class Held extends HeldTimersTest {}

  @Nested
  class InTransactions extends TransactionTimerTest {
    /** Not by a setting of the session, which would be that of anybody. */
    @Override
    @Test
    void refusesATransactionThatDoesNotSeeWhatOthersCommit() throws SQLException {
      execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
      assertThatIllegalStateException()
          .isThrownBy(() -> timer.schedule(spec("a")))
          .withMessageContaining("expected: isolation READ COMMITTED");
    }

    /** There is nobody to listen. */
    @Override
    void notifiesOfWhatIsNearWhenItCommits() {}
  }

  @Nested
  class ExactlyOnce extends TransactionHandlerTest {}
}
