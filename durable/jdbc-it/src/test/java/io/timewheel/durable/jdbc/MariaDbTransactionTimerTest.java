// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.MariaDbSql.execute;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.timewheel.durable.model.DurableTimerException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Runs the tests of {@link TransactionTimerTest} on MariaDB, as {@link MariaDbTest} describes. */
@On(Server.MARIADB)
class MariaDbTransactionTimerTest extends TransactionTimerTest {
  /** A transaction stays usable after a failed statement. */
  @Override
  void refusesATransactionThatHasFailed() {}

  @Override
  @Test
  void refusesAReadOnlyTransaction() throws SQLException {
    connection.rollback();
    execute("SET SESSION TRANSACTION READ ONLY");
    assertThatIllegalStateException()
        .isThrownBy(() -> timer.cancel("shop", "a"))
        .withMessageContaining("its transaction is read-only");
  }

  /** On MariaDB, the store changes no settings. */
  @Override
  void restoresTheSettingsOfTheTransaction() {}

  @Override
  @Test
  void reportsTheLossOfTheTransactionWhenTheDatabaseFails() throws SQLException {
    node.commit(schedule("a", NOW));
    try (Connection holder = fixture.transaction()) {
      timers.in(holder).cancel("shop", "a");
      execute("SET SESSION innodb_lock_wait_timeout = 1");
      assertThatExceptionOfType(DurableTimerException.class)
          .isThrownBy(() -> timer.scheduleAll(List.of(spec("0"), at("a", NOW + 1), spec("z"))))
          .withMessageContaining("Lock wait timeout")
          .withMessageEndingWith("the transaction can only be rolled back")
          .returns(DurableTimerException.Reason.STORE_UNAVAILABLE, DurableTimerException::reason);
      connection.commit();
      holder.rollback();
    }
    assertThat(state("0")).as("after the user commits nevertheless").isNull();
    assertThat(node.store.counts().get("shop")).hasSize(1).containsValue(1L);
  }

  @Override
  void loseB() throws SQLException {
    fixture.execute(
        "CREATE TRIGGER lose BEFORE INSERT ON timewheel_timer FOR EACH ROW"
            + " SET NEW.id = IF(NEW.id = 'b', 'elsewhere', NEW.id)");
  }

  /** MariaDB has no notifications. */
  @Override
  void notifiesOfNearTimersWhenItCommits() {}
}
