// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.Fixture.success;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.Outcome.Answer;
import io.timewheel.durable.spi.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A transaction of a user that stays open: its timers wait for it, and nothing else does. */
class HeldTimersTest {
  final Fixture fixture = new Fixture(Server.of(this));
  final Fixture.Node node = fixture.start();
  private Connection holder;

  @BeforeEach
  void hold() throws SQLException {
    node.store.commit(List.of(schedule("a", NOW), schedule("held", NOW), schedule("z", NOW)));
    holder = fixture.transaction();
  }

  @AfterEach
  void close() throws SQLException {
    holder.close();
    fixture.close();
  }

  void cancelHeld() {
    TransactionTimers.of(node.store).in(holder).cancel("shop", "held");
  }

  static Change.Cancel cancel(String id) {
    return new Change.Cancel(key(id), 0, NOW);
  }

  private void assertRejected(Change... changes) {
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> node.store.commit(List.of(changes)))
        .withMessage("another transaction holds a timer of the batch")
        .returns(StoreException.Kind.REJECTED, StoreException::kind);
  }

  @Test
  void isNotBegunAndOthersAre() throws SQLException {
    Change.Begin held = node.begin("held");
    cancelHeld();
    List<Change> claims = List.of(node.begin("a"), held, node.begin("z"));
    assertThat(node.store.commit(claims))
        .extracting(Outcome::answer)
        .containsExactly(Answer.APPLIED, Answer.OUTDATED, Answer.APPLIED);
    assertThat(node.commit(held).answer()).as("alone").isEqualTo(Answer.OUTDATED);
    holder.rollback();
    assertThat(node.commit(held).answer()).isEqualTo(Answer.APPLIED);
    assertThat(node.store.counts().get("shop")).isEqualTo(Map.of(TimerState.FIRING, 3L));
  }

  @Test
  void hasTheOthersOfABatchTriedOneByOne() throws SQLException {
    cancelHeld();
    assertRejected(cancel("a"), cancel("held"), cancel("z"));
    assertRejected(node.begin("a"), cancel("held"));
    assertThat(node.commit(cancel("a")).answer()).isEqualTo(Answer.CANCELLED);
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> node.commit(cancel("held")))
        .returns(StoreException.Kind.TRANSIENT, StoreException::kind);
    holder.rollback();
    assertThat(node.commit(cancel("held")).answer()).isEqualTo(Answer.CANCELLED);
  }

  @Test
  void theEndOfItsAttemptWaits() throws SQLException {
    Change.Begin begun = node.begin("held");
    node.commit(begun);
    cancelHeld();
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> node.commit(success(begun)))
        .returns(StoreException.Kind.TRANSIENT, StoreException::kind);
    holder.commit();
    assertThat(node.commit(success(begun)).answer()).isEqualTo(Answer.APPLIED);
    assertThat(node.store.get(key("held")).state()).isEqualTo(TimerState.DONE);
  }

  @Test
  void aKeyThatIsBeingMadeHoldsUpNoOtherEither() throws SQLException {
    TransactionTimers.of(node.store)
        .in(holder)
        .schedule(TimerSpec.of("shop", "new").after(Duration.ofHours(1)).handler("orders"));
    assertRejected(schedule("a", NOW + 1), schedule("new", NOW));
    assertThat(node.commit(schedule("a", NOW + 1)).answer()).isEqualTo(Answer.REPLACED);
    holder.commit();
    assertThat(node.commit(schedule("new", NOW)).answer()).isEqualTo(Answer.REPLACED);
  }
}
