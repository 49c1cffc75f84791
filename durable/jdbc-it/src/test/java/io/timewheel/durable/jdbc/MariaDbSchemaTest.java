// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.spi.StoreException;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** Runs the tests of {@link SchemaTest} on MariaDB, as {@link MariaDbTest} describes. */
@On(Server.MARIADB)
class MariaDbSchemaTest extends SchemaTest {
  /** All text is UTF-8, with any encoding of the database. */
  @Override
  void refusesAnEncodingThatCannotHoldAllNames() {}

  @Test
  void completesTablesWhoseCreationWasInterrupted() throws SQLException {
    String script = fixture.builder(fixture.pool).migration(false);
    fixture.execute(script.substring(0, script.indexOf("START TRANSACTION;\nINSERT")));
    assertThat(fixture.open().store.traits().shards()).isEqualTo(4);
    assertThat(fixture.number("SELECT count(*) FROM timewheel_history")).isOne();
  }

  @Test
  void refusesAServerWithASmallPacketLimit() throws SQLException {
    Database administration = TestDatabases.mariadb().administration();
    long usual = administration.number("SELECT @@global.max_allowed_packet");
    administration.execute("SET GLOBAL max_allowed_packet = 1048576");
    try {
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> JdbcTimerStore.mariadb(fixture.database.dataSource()))
          .withMessageContaining("max_allowed_packet");
    } finally {
      administration.execute("SET GLOBAL max_allowed_packet = " + usual);
    }
  }
}
