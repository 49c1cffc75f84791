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
 * Runs the tests for PostgreSQL through a pooler in transaction mode, set up as in the guide. A
 * test that is overridden without {@code @Test} does not apply to a pooler. Only this class
 * verifies that no statement needs the session of an earlier one.
 */
@SuppressWarnings("ClassCanBeStatic") // JUnit requires nested classes that are not static
@Tag("proof")
@On(Server.POOLER)
class PoolerTest {
  /** Verifies the precondition of all other tests in this class. */
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
  class Store extends DatabaseStoreContract {
    @Override
    Database seen(Database owned) {
      return owned;
    }
  }

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
    /** Does not set a session default, which other clients would inherit. */
    @Override
    @Test
    void refusesATransactionThatDoesNotReadLaterCommits() throws SQLException {
      execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
      assertThatIllegalStateException()
          .isThrownBy(() -> timer.schedule(spec("a")))
          .withMessageContaining("expected: isolation READ COMMITTED");
    }

    /** No connection listens. */
    @Override
    void notifiesOfNearTimersWhenItCommits() {}
  }

  @Nested
  class ExactlyOnce extends TransactionHandlerTest {}
}
