// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.Fixture.success;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.ScheduleResult;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.HeldTimersException;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.testkit.DurableTestkit;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Verifies that only the timers of a user's open transaction wait for it. */
@Tag("promise-65")
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

  void assertHeld(List<String> ids, Change... changes) {
    assertThatExceptionOfType(HeldTimersException.class)
        .isThrownBy(() -> node.store.commit(List.of(changes)))
        .returns(StoreException.Kind.TRANSIENT, StoreException::kind)
        .satisfies(
            e ->
                assertThat(e.heldKeys())
                    .containsExactlyInAnyOrderElementsOf(ids.stream().map(Fixture::key).toList()));
  }

  @Test
  void doesNotBeginAHeldTimerButOthers() throws SQLException {
    Change.Begin held = node.begin("held");
    cancelHeld();
    List<Change> claims = List.of(node.begin("a"), held, node.begin("z"));
    assertThat(node.store.commit(claims))
        .extracting(Outcome::answer)
        .containsExactly(Answer.APPLIED, Answer.OUTDATED, Answer.APPLIED);
    assertThat(node.commit(held).answer()).as("alone").isEqualTo(Answer.OUTDATED);
    holder.rollback();
    assertThat(node.commit(held).answer()).isEqualTo(Answer.APPLIED);
    assertThat(node.store.counts().get("shop")).isEqualTo(Map.of(TimerState.RUNNING, 3L));
  }

  @Test
  void reportsAHeldTimerAndCommitsTheOthersOfTheBatch() throws SQLException {
    cancelHeld();
    assertHeld(List.of("held"), cancel("a"), cancel("held"), cancel("z"));
    assertThat(node.store.commit(List.of(cancel("a"), cancel("z"))))
        .extracting(Outcome::answer)
        .containsOnly(Answer.CANCELLED);
    assertHeld(List.of("held"), cancel("held"));
    holder.rollback();
    assertThat(node.commit(cancel("held")).answer()).isEqualTo(Answer.CANCELLED);
  }

  @Test
  void reportsAllHeldTimersWithAnyOtherChanges() throws SQLException {
    Change.Begin claim = node.begin("held");
    cancelHeld();
    TransactionTimers.of(node.store).in(holder).cancel("shop", "z");
    assertHeld(List.of("held", "z"), cancel("a"), cancel("held"), claim, cancel("z"));
    assertHeld(List.of("z"), claim, cancel("z"));
  }

  @Test
  void refusesTheCompletionOfItsAttemptUntilItIsReleased() throws SQLException {
    Change.Begin begun = node.begin("held");
    node.commit(begun);
    cancelHeld();
    assertHeld(List.of("held"), success(begun));
    holder.commit();
    assertThat(node.commit(success(begun)).answer()).isEqualTo(Answer.APPLIED);
    assertThat(node.store.get(key("held")).state()).isEqualTo(TimerState.COMPLETED);
  }

  void scheduleHeld(String id) {
    TransactionTimers.of(node.store)
        .in(holder)
        .schedule(TimerSpec.of("shop", id).after(Duration.ofHours(1)).handler("orders"));
  }

  @Test
  void reportsKeysThatAreBeingInsertedAmongMany() throws SQLException {
    scheduleHeld("t17");
    scheduleHeld("t18");
    scheduleHeld("t171");
    List<Change.Schedule> batch =
        IntStream.range(0, 200).mapToObj(i -> schedule("t" + i, NOW)).toList();
    assertHeld(List.of("t17", "t18", "t171"), batch.toArray(Change[]::new));
    List<Change> others = new ArrayList<>(batch);
    others.removeIf(change -> change.key().id().matches("t17|t18|t171"));
    assertThat(node.store.commit(others)).extracting(Outcome::answer).containsOnly(Answer.CREATED);
    holder.commit();
    assertThat(node.store.commit(List.copyOf(batch.subList(17, 19))))
        .extracting(Outcome::answer)
        .containsOnly(Answer.REPLACED);
    assertThat(node.store.counts().get("shop")).isEqualTo(Map.of(TimerState.SCHEDULED, 203L));
  }

  @Test
  void reportsAFinishedTimerThatIsBeingScheduledAgain() throws SQLException {
    node.commit(cancel("z"));
    scheduleHeld("z");
    assertHeld(List.of("z"), schedule("a", NOW + 1), schedule("z", NOW));
    holder.rollback();
    assertThat(node.commit(schedule("z", NOW)).answer()).isEqualTo(Answer.CREATED);
  }

  /** A held call fails after 5 s; the 100 commits of the other timers must finish before that. */
  @Test
  void onlyItsOwnCallsWait() throws SQLException {
    cancelHeld();
    DurableTestkit kit = DurableTestkit.create();
    DurableTimer scheduler = kit.start(node.store, builder -> builder.handler("orders", f -> {}));
    CompletableFuture<CancelResult> first =
        scheduler.async().timer("shop", "held").cancel().toCompletableFuture();
    CompletableFuture<ScheduleResult> second =
        scheduler
            .async()
            .schedule(TimerSpec.of("shop", "held").after(Duration.ofHours(1)).handler("orders"))
            .toCompletableFuture();
    for (int i = 0; i < 100; i++) {
      scheduler.schedule(
          TimerSpec.of("shop", "t" + i).after(Duration.ofHours(1)).handler("orders"));
    }
    kit.advanceBy(Duration.ofSeconds(4));
    assertThat(first).isNotDone();
    assertThat(second).isNotDone();
    holder.rollback();
    kit.advanceBy(Duration.ofMillis(500));
    assertThat(first.join().outcome()).isEqualTo(CancelResult.Outcome.CANCELLED);
    assertThat(second.join().outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    kit.close(scheduler);
  }
}
