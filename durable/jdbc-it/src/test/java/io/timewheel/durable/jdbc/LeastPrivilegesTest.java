// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Runs the contract of stores with a role that has only the privileges in the guide, on tables that
 * another role has created. Only this class verifies that these privileges suffice.
 */
class LeastPrivilegesTest extends DatabaseStoreContract {
  private static final Path GUIDE = Path.of("../../docs/operate/database.md");
  private static final String ROLE = "least_privileges";

  @BeforeAll
  static void createRole() throws SQLException {
    TestDatabases.postgresql().administration().execute("CREATE ROLE " + ROLE + " LOGIN");
  }

  /** Returns the GRANT statements of the guide, for the role of this test. */
  private static String grants(String schema) throws IOException {
    Matcher block =
        Pattern.compile("```sql\n(GRANT .*?)```", Pattern.DOTALL).matcher(Files.readString(GUIDE));
    assertThat(block.find()).as("grants in " + GUIDE).isTrue();
    return block
        .group(1)
        .replaceAll("\\bSCHEMA public\\b", "SCHEMA " + schema)
        .replaceAll("\\bTO app\\b", "TO " + ROLE);
  }

  @Override
  Database seen(Database owned) throws SQLException, IOException {
    String schema = owned.url().replaceFirst(".*=", "");
    owned.execute("REVOKE ALL ON ALL TABLES IN SCHEMA " + schema + " FROM " + ROLE);
    owned.execute(grants(schema));
    return new Database(owned.url(), ROLE, "");
  }

  @Override
  protected TimerStore reopen(TimerStore closed) {
    try { // an import needs these, too: docs/operate/move.md
      owned.execute("GRANT INSERT, DELETE ON timewheel_meta TO " + ROLE);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return super.reopen(closed);
  }

  @Test
  void emptiesAPartOfTheHistory() throws SQLException {
    finish("a", Fixture.NOW);
    owned.execute("UPDATE timewheel_history SET part_since = 0");
    opened.purge(Fixture.NOW - 5, 10, 10);
    finish("b", Fixture.NOW + 10);
    opened.purge(Fixture.NOW + 15, 10, 10);
    assertThat(owned.number("SELECT count(*) FROM timewheel_done_0")).isZero();
  }

  private void finish(String id, long now) {
    opened.commit(List.of(Fixture.schedule(id, Fixture.NOW)));
    opened.commit(List.of(new Change.Cancel(Fixture.key(id), 0, now)));
  }

  @Test
  void compactsTheCounters() throws SQLException {
    for (int i = 0; i < 250; i++) {
      finish("a", Fixture.NOW);
    }
    assertThat(owned.number("SELECT count(*) FROM timewheel_count")).isLessThan(10);
  }

  @Test
  void verifiesAndRepairs() throws SQLException {
    finish("a", Fixture.NOW);
    opened.commit(List.of(Fixture.schedule("b", Fixture.NOW)));
    owned.execute("INSERT INTO timewheel_count VALUES ('shop', 0, 1)");
    owned.execute("INSERT INTO timewheel_ready VALUES ('shop', 'orders', 1, 'b')");
    owned.execute("UPDATE timewheel_timer SET shard = 64");
    assertThat(opened.repair().problems()).isEqualTo(3);
    assertThat(opened.verify().texts()).isEmpty();
  }

  @Test
  void needsAnotherRoleToPrepareTheTablesForTheNextRelease() {
    JdbcTimerStoreBuilder program = JdbcTimerStore.postgresqlBuilder(pool);
    program.formats = UpgradeTest.next();
    JdbcTimerStoreBuilder administrator = JdbcTimerStore.postgresqlBuilder(owned.dataSource());
    administrator.formats = UpgradeTest.next();
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(program::open)
        .withMessageStartingWith("the tables are not ready for this release (`timewheel store ")
        .withMessageContaining("must be owner");
    assertThat(administrator.migrate(false)).isEqualTo(6);
    opened.close();
    try (JdbcTimerStore store = program.open()) {
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> program.migrate(true))
          .withMessageContaining("permission denied");
      assertThat(administrator.migrate(true)).isEqualTo(7);
      assertThat(store.commit(List.of(Fixture.schedule("a", Fixture.NOW)))).hasSize(1);
    }
  }

  @Test
  void mayChangeNoTable() throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      for (String sql :
          List.of(
              "CREATE TABLE mine (a integer)",
              "DROP TABLE timewheel_count",
              "ALTER TABLE timewheel_timer ADD COLUMN a integer",
              "TRUNCATE timewheel_timer",
              "UPDATE timewheel_meta SET value = 0")) {
        assertThatExceptionOfType(SQLException.class)
            .isThrownBy(() -> statement.execute(sql))
            .returns("42501", SQLException::getSQLState);
      }
    }
  }
}
