// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.spi.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SchemaTest {
  final Fixture fixture = Fixture.withoutTables(Server.of(this));

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void createsTheTablesOnce() {
    assertThat(fixture.open(fixture.pool, 4).store.traits().shards()).isEqualTo(4);
    assertThat(fixture.open(fixture.pool, 8).store.traits().shards()).isEqualTo(4);
  }

  @Test
  void createsTheTablesOnceForConcurrentCalls() {
    List<Integer> shards =
        IntStream.of(2, 3, 4, 5)
            .parallel()
            .map(n -> fixture.builder(fixture.pool).shards(n).open().traits().shards())
            .distinct()
            .boxed()
            .toList();
    assertThat(shards).hasSize(1);
  }

  @Test
  void printsTheStatementsItWouldExecute() throws SQLException {
    fixture.execute(fixture.builder(fixture.pool).shards(3).migration(false));
    assertThat(fixture.open(fixture.pool, 8).store.traits().shards()).isEqualTo(3);
    assertThat(fixture.number("SELECT count(*) FROM timewheel_shard")).isEqualTo(3);
  }

  /** Auto-commit mode is the default of database clients. */
  @Test
  void anIncompleteScriptHasNoEffect() throws SQLException {
    String script = fixture.builder(fixture.pool).shards(3).migration(false);
    fixture.database.execute(script.substring(0, script.lastIndexOf("COMMIT;")));
    assertThat(fixture.open(fixture.pool, 8).store.traits().shards()).isEqualTo(8);
  }

  @Test
  void refusesAnUnknownFormat() throws SQLException {
    fixture.open();
    fixture.execute("UPDATE timewheel_meta SET value = 7 WHERE name = 'format'");
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(fixture::open)
        .withMessage("the tables have format 7 (expected: 6)")
        .returns(StoreException.Kind.UNAVAILABLE, StoreException::kind);
  }

  @Test
  void refusesAnEncodingThatCannotHoldAllNames() throws SQLException {
    Database administration = TestDatabases.postgresql().administration();
    String name = "latin_" + System.nanoTime();
    try (Connection connection = administration.connect();
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE DATABASE "
              + name
              + " ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    }
    Database latin =
        new Database(
            administration.url().replaceFirst("[^/]*$", name),
            administration.user(),
            administration.password());
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> JdbcTimerStore.postgresql(latin.dataSource()))
        .withMessage("the encoding of the database is LATIN1 (expected: UTF8)");
  }
}
