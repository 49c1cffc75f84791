// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.MariaDbSql.waits;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.spi.record.Outcome.Answer;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/**
 * Runs short tests for PostgreSQL on MariaDB, except where the two differ. A test that is
 * overridden without {@code @Test} does not apply to MariaDB. Longer tests have their own classes,
 * which run side by side. Only the tests with this server execute the statements for MariaDB.
 */
@SuppressWarnings("ClassCanBeStatic") // JUnit requires nested classes that are not static
@On(Server.MARIADB)
class MariaDbTest {
  @Nested
  class Copy extends CopyTest {}

  @Nested
  class UserTransactionFuzz extends UserTransactionFuzzTest {}

  @Nested
  class Nodes extends MembershipTest {}

  @Nested
  class Figures extends JdbcFiguresTest {
    /** MariaDB has no notifications. */
    @Override
    void countsNotifications() {}
  }

  @Nested
  class Pages extends PageTest {
    @Override
    String releasePlan() {
      return "timewheel_timer_due range (?!.*filesort).*\n";
    }

    @Override
    String copies(int count) {
      return COPY.formatted("concat('id-', 10000 + seq)", "seq_1_to_" + count);
    }

    @Override
    String analyze() {
      return "ANALYZE TABLE timewheel_timer";
    }

    @Override
    String planRow(ResultSet row) throws SQLException {
      return String.join(
          " ",
          row.getString("key"),
          row.getString("type"),
          row.getString("key_len"),
          row.getString("Extra"));
    }
  }

  @Nested
  class Bounds extends DueBoundsTest {}

  @Nested
  class Pauses extends ClusterPausesTest {}

  @Nested
  class TwoNodes extends TwoTimersTest {}

  @Nested
  class RepeatedRequests extends RepeatedRequestsTest {}

  @Nested
  class Held extends HeldTimersTest {
    /** The shortest lock timeout is 1 s. */
    @Test
    void noWriteBatchWaitsForALock() throws SQLException {
      cancelHeld();
      scheduleHeld("new");
      long before = waits(fixture);
      assertHeld(List.of("held"), cancel("a"), cancel("held"));
      assertHeld(List.of("held"), cancel("held"));
      assertHeld(List.of("new"), schedule("new", NOW));
      assertThat(node.commit(node.begin("held")).answer()).isEqualTo(Answer.OUTDATED);
      assertThat(waits(fixture)).isEqualTo(before);
    }
  }

  @Nested
  class Batches extends BatchingHandlerTest {}
}
