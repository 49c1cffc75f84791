// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.MariaDbSql.explain;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.internal.mariadb.MariaDbQueries;
import java.sql.SQLException;
import java.util.List;

/** Runs the tests of {@link HandlerClaimsTest} on MariaDB, as {@link MariaDbTest} describes. */
@On(Server.MARIADB)
class MariaDbHandlerClaimsTest extends HandlerClaimsTest {
  @Override
  void analyze() throws SQLException {
    fixture.execute("ANALYZE TABLE timewheel_timer PERSISTENT FOR ALL");
    fixture.execute("ANALYZE TABLE timewheel_handler_ready PERSISTENT FOR ALL");
  }

  @Override
  void assertPlans() throws SQLException {
    List<String> plan = explain(fixture, MariaDbQueries.TAKE_HANDLER_READY, "'h'", "7", "1");
    assertThat(plan).noneMatch(table -> table.matches(".*(filesort|temporary).*"));
    assertThat(plan.get(0)).startsWith("ref ");
    assertThat(plan.get(1)).startsWith("eq_ref ");
    assertThat(explain(fixture, MariaDbQueries.READY_HANDLERS, "''", "10"))
        .singleElement()
        .satisfies(table -> assertThat(table).startsWith("range ").doesNotContain("filesort"));
  }
}
