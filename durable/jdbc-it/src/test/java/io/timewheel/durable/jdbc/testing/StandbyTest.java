// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("proof")
class StandbyTest {
  private DatabaseServer primary;
  private Standby standby;
  private Database database;

  @BeforeEach
  void start() throws SQLException {
    TestDatabases.postgresql(); // or the test is skipped
    primary = DatabaseServer.postgresql().sync(false).start();
    standby = Standby.of(primary);
    database = primary.createDatabase();
    database.execute("CREATE TABLE t (n BIGINT)");
  }

  @AfterEach
  void close() {
    if (standby != null) {
      standby.close();
    }
    if (primary != null) {
      primary.close();
    }
  }

  @Test
  void hasAllCommitsAfterItsPromotion() throws SQLException {
    standby.waitedFor();
    database.execute("INSERT INTO t VALUES (1)");
    Database either = standby.onEither(database);
    assertThat(either.number("SELECT pg_is_in_recovery()::integer")).isZero();
    primary.crash();
    standby.promote();
    assertThat(either.number("SELECT count(*) FROM t")).isOne();
    either.execute("INSERT INTO t VALUES (2)");
  }

  @Test
  void lacksCommitsAfterItsDisconnection() throws SQLException {
    database.execute("INSERT INTO t VALUES (1)");
    standby.waitedFor();
    database.execute("INSERT INTO t VALUES (2)");
    standby.notWaitedFor();
    standby.cutOff();
    database.execute("INSERT INTO t VALUES (3)");
    primary.crash();
    standby.promote();
    assertThat(standby.onEither(database).number("SELECT sum(n) FROM t")).isEqualTo(3);
  }

  @Test
  void commitsWaitForTheStandby() throws SQLException {
    standby.waitedFor();
    standby.server().stop();
    Database impatient = database.with("socketTimeout", 3);
    assertThatThrownBy(() -> impatient.execute("INSERT INTO t VALUES (1)"))
        .isInstanceOf(SQLException.class);
    standby.server().start();
    database.execute("INSERT INTO t VALUES (2)");
    assertThat(database.number("SELECT sum(n) FROM t")).isEqualTo(3);
  }
}
