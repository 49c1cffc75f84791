// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.jdbc.LossySource.Fate;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Verifies the outcome of a write batch whose COMMIT, or its answer, is lost or delayed. */
@Tag("promise-56")
class TransactionsTest {
  final Fixture fixture = new Fixture(Server.of(this));
  final LossySource source = new LossySource(fixture.pool);
  final Fixture.Node node = fixture.open(source, 4);
  private int looks;

  @BeforeEach
  void liftIdleTimeout() {
    source.liftIdleTimeout = fixture.server.liftIdleTimeout();
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  /** Returns a change that needs a write batch. */
  static Change keyed(String id) {
    Change.Schedule plain = schedule(id, NOW);
    return new Change.Schedule(
        plain.key(),
        plain.definition(),
        NOW,
        false,
        plain.condition(),
        0,
        false,
        RequestId.of("request"),
        TimerRecord.NEVER,
        NOW);
  }

  @Test
  void returnsTheCommittedOutcomeAfterALostAnswer() {
    source.commits = 0;
    source.fates.add(Fate.ANSWER_LOST);
    Outcome outcome = node.commit(keyed("a"));
    assertThat(outcome.answer()).isEqualTo(Answer.CREATED);
    assertThat(outcome.version()).isEqualTo(node.store.get(key("a")).version());
    assertThat(source.commits).isEqualTo(1);
  }

  @Test
  void givesItsConnectionBackBeforeItLooksUpALostAnswer() {
    List<Integer> open = new ArrayList<>();
    source.fates.add(Fate.ANSWER_LOST);
    source.onRollback = () -> source.onConnection = () -> open.add(source.open);
    assertThat(node.commit(keyed("a")).answer()).isEqualTo(Answer.CREATED);
    assertThat(open).as("connections in use when a lookup begins").isNotEmpty().containsOnly(0);
  }

  @Test
  void looksUpNoLostAnswerAfterTheClose() {
    AtomicInteger pauses = new AtomicInteger();
    node.onPause = pauses::incrementAndGet;
    source.fates.add(Fate.ANSWER_LOST);
    source.onRollback = () -> node.store.transactions().close();
    assertThatThrownBy(() -> node.commit(keyed("a")))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.UNKNOWN));
    assertThat(pauses).hasValue(0);
  }

  @Test
  void returnsTheCommittedOutcomeIfTheConnectionIsLostAfterTheCommit() {
    source.commits = 0;
    source.failsToClose = true;
    assertThat(node.commit(keyed("a")).answer()).isEqualTo(Answer.CREATED);
    assertThat(source.commits).isEqualTo(1);
  }

  @Test
  void repeatsAnAbortedCommit() {
    source.commits = 0;
    source.fates.add(Fate.COMMIT_LOST);
    assertThat(node.commit(keyed("a")).answer()).isEqualTo(Answer.CREATED);
    assertThat(source.commits).isEqualTo(2);
    assertThat(node.store.get(key("a"))).isNotNull();
  }

  @Test
  void repeatsACommitOfAnAnswerWithoutAChange() {
    Change cancel = new Change.Cancel(key("a"), 0, RequestId.of("request"), NOW);
    source.fates.add(Fate.COMMIT_LOST);
    assertThat(node.commit(cancel).answer()).isEqualTo(Answer.NOT_FOUND);
    node.commit(schedule("a", NOW));
    assertThat(node.commit(cancel).answer()).isEqualTo(Answer.NOT_FOUND);
    assertThat(node.store.get(key("a")).state()).isEqualTo(TimerState.SCHEDULED);
  }

  @Test
  void waitsForACommitThatIsInProgress() {
    source.commits = 0;
    source.fates.add(Fate.COMMIT_DELAYED);
    node.onPause =
        () -> {
          if (++looks == 3) {
            end(true);
          }
        };
    assertThat(node.commit(keyed("a")).answer()).isEqualTo(Answer.CREATED);
    assertThat(looks).isEqualTo(3);
    assertThat(source.commits).isEqualTo(1);
  }

  @Test
  void repeatsACommitThatWasInProgressAndThenAborted() {
    source.fates.add(Fate.COMMIT_DELAYED);
    node.onPause =
        () -> {
          if (++looks == 3) {
            end(false);
          }
        };
    assertThat(node.commit(keyed("a")).answer()).isEqualTo(Answer.CREATED);
    assertThat(node.store.get(key("a"))).isNotNull();
  }

  private void end(boolean commit) {
    try {
      if (commit) {
        source.delayed.commit();
      } else {
        source.delayed.rollback();
      }
      source.delayed.close();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void isUnknownIfNoLookupFindsTheOutcome() {
    source.fates.add(Fate.COMMIT_DELAYED);
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> node.commit(keyed("a")))
        .returns(StoreException.Kind.UNKNOWN, StoreException::kind);
    end(true);
  }

  @Test
  void limitsTheNumberOfTries() {
    source.commits = 0;
    source.fates.addAll(Collections.nCopies(6, Fate.COMMIT_LOST));
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> node.commit(keyed("a")))
        .returns(StoreException.Kind.TRANSIENT, StoreException::kind);
    assertThat(source.commits).isEqualTo(6);
    assertThat(node.store.get(key("a"))).isNull();
  }

  @Test
  void reportsTheErrorOfTheDatabase() throws SQLException {
    fixture.execute("ALTER TABLE timewheel_timer RENAME TO elsewhere");
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> node.commit(keyed("a")))
        .withMessageContaining("relation \"timewheel_timer\" does not exist")
        .returns(StoreException.Kind.UNAVAILABLE, StoreException::kind);
    fixture.pool.close();
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> node.store.get(key("a")))
        .withMessageContaining("no connection")
        .returns(StoreException.Kind.TRANSIENT, StoreException::kind);
  }

  @Test
  void refusesAfterItsClose() {
    node.store.close();
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> node.store.commit(List.of(keyed("a"))))
        .withMessage("the session is closed")
        .returns(StoreException.Kind.UNAVAILABLE, StoreException::kind);
  }
}
