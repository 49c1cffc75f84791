// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.timewheel.durable.jdbc.internal.sql.Statements;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StatementsTest {
  private final Fixture fixture = new Fixture(Server.of(this));
  private Connection connection;

  @BeforeEach
  void connect() throws SQLException {
    fixture.execute("CREATE TABLE own (n int)");
    connection = fixture.transaction();
  }

  @AfterEach
  void close() throws SQLException {
    connection.close();
    fixture.close();
  }

  private static void insert(Statements to) {
    to.update("INSERT INTO own VALUES (1)", none -> {});
  }

  @Test
  void closingFailsWhileAStatementIsNotSent() {
    assertThatIllegalStateException()
        .isThrownBy(
            () -> {
              try (Statements to = new Statements(connection)) {
                insert(to);
              }
            })
        .withMessage("statements were added and not sent: 1 (first: INSERT INTO own VALUES (1))");
  }

  @Test
  void closingAfterAllWasSentDoesNothing() throws SQLException {
    try (Statements to = new Statements(connection)) {
      insert(to);
      to.send();
    }
    connection.commit();
    assertThat(fixture.number("SELECT count(*) FROM own")).isOne();
  }

  @Test
  void closingKeepsTheExceptionOfItsBlock() {
    assertThatExceptionOfType(SQLException.class)
        .isThrownBy(
            () -> {
              try (Statements to = new Statements(connection)) {
                insert(to);
                throw new SQLException("first");
              }
            })
        .withMessage("first")
        .satisfies(
            first ->
                assertThat(first.getSuppressed())
                    .singleElement()
                    .isInstanceOf(IllegalStateException.class));
  }
}
