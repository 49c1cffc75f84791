// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.HeldTimersException;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Verifies held timers, which other transactions have locked: only their own changes wait. */
class HeldTimersTest {
  private static final int LIMIT_MILLIS = 5_000;
  private static final int LONGEST_WAIT_MILLIS = 500;

  private final Set<TimerKey> held = new HashSet<>();

  /** The ids of each batch that the store received, and of each batch that it committed. */
  private final List<List<String>> asked = new ArrayList<>();

  private final List<List<String>> committed = new ArrayList<>();
  private final List<String> fired = new ArrayList<>();
  private final Stand stand = new Stand();
  private final InMemoryTimerStore data = InMemoryTimerStore.create();
  private int maxBatch = 1_000;
  private RuntimeException failure;
  private final DurableTimer scheduler =
      stand.start(
          new ForwardingTimerStore(data) {
            @Override
            public StoreTraits traits() {
              StoreTraits traits = super.traits();
              return new StoreTraits(
                  traits.shards(),
                  traits.committers(),
                  maxBatch,
                  traits.window(),
                  traits.claimAhead(),
                  traits.sweep(),
                  traits.lease());
            }

            @Override
            public List<Outcome> commit(List<Change> changes) {
              asked.add(ids(changes));
              if (failure != null) {
                throw failure;
              }
              List<TimerKey> found =
                  changes.stream().map(Change::key).filter(held::contains).distinct().toList();
              if (!found.isEmpty()) {
                throw new HeldTimersException(found, null);
              }
              committed.add(ids(changes));
              return super.commit(changes);
            }
          },
          builder ->
              builder.handler("h", firing -> fired.add(firing.id())).queueCapacity(100, true));

  private static List<String> ids(List<Change> changes) {
    return changes.stream().map(change -> change.key().id()).toList();
  }

  private void hold(String id) {
    held.add(new TimerKey("shop", id));
    asked.clear();
    committed.clear();
  }

  private CompletableFuture<ScheduleResult> schedule(String id) {
    return scheduler
        .async()
        .schedule(Scene.spec(id).after(Duration.ofHours(1)))
        .toCompletableFuture();
  }

  private CompletableFuture<CancelResult> cancel(String id) {
    return scheduler.async().timer("shop", id).cancel().toCompletableFuture();
  }

  private void advance(long millis) {
    stand.advance(Duration.ofMillis(millis));
  }

  private static void assertBusy(CompletionStage<?> result) {
    assertThat(result.toCompletableFuture()).isDone();
    assertThatThrownBy(() -> result.toCompletableFuture().getNow(null))
        .cause()
        .isInstanceOfSatisfying(
            DurableTimerException.class, e -> assertThat(e.reason()).isEqualTo(Reason.BUSY))
        .hasMessageMatching("shop/x\\d*: another transaction .*");
  }

  @Test
  void theOtherChangesOfABatchAreCommittedByOneMoreCommit() {
    hold("x");
    List<CompletableFuture<?>> others = new ArrayList<>();
    CompletableFuture<?> waiting = null;
    for (int i = 0; i < 20; i++) {
      others.add(schedule("t" + i));
      waiting = i == 7 ? schedule("x") : waiting;
    }
    stand.settle();
    List<String> expected = IntStream.range(0, 20).mapToObj(i -> "t" + i).toList();
    assertThat(committed.stream().flatMap(List::stream)).containsExactlyElementsOf(expected);
    assertThat(asked).as("all, then all except the held one").hasSize(2);
    assertThat(others).allMatch(CompletableFuture::isDone);
    assertThat(waiting).isNotDone();
    assertThat(scheduler.stats().queued()).isOne();
    held.clear();
    advance(LONGEST_WAIT_MILLIS);
    assertThat(waiting).isCompleted();
    assertThat(scheduler.stats().queued()).isZero();
  }

  @Test
  void laterChangesWaitForTheHeldOneAndDelayNoOthers() {
    hold("x");
    CompletableFuture<ScheduleResult> first = schedule("x");
    stand.settle();
    asked.clear();
    CompletableFuture<CancelResult> second = cancel("x");
    CompletableFuture<?> other = schedule("t");
    CompletableFuture<ScheduleResult> third = schedule("x");
    stand.settle();
    assertThat(asked).containsExactly(List.of("t"));
    assertThat(other).isCompleted();
    held.clear();
    advance(LONGEST_WAIT_MILLIS);
    assertThat(first.join().outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    assertThat(second.join().outcome()).isEqualTo(CancelResult.Outcome.CANCELLED);
    assertThat(third.join().outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    assertThat(committed).containsExactly(List.of("t"), List.of("x", "x", "x"));
    assertThat(cancel("x")).isNotDone();
    stand.settle();
    assertThat(committed).as("no longer held").hasSize(3);
  }

  @Test
  void aCallWaitsOnceOverAllItsTries() {
    hold("x");
    CompletableFuture<?> first = schedule("x");
    advance(LIMIT_MILLIS - LONGEST_WAIT_MILLIS);
    CompletableFuture<?> second = cancel("x");
    stand.settle();
    assertThat(first).isNotDone();
    advance(2 * LONGEST_WAIT_MILLIS);
    assertBusy(first);
    assertThat(second).isNotDone();
    advance(LIMIT_MILLIS);
    assertBusy(second);
    assertThat(asked).as("tries").hasSizeBetween(15, 40);
    asked.clear();
    advance(2 * LIMIT_MILLIS);
    assertThat(asked).as("nothing is left to try").isEmpty();
    assertThat(scheduler.stats().queued()).isZero();
  }

  @Test
  void callsBeyondOneBatchDoNotWaitLonger() {
    maxBatch = 10;
    hold("x");
    List<CompletableFuture<?>> waiting = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      waiting.add(schedule("x"));
      stand.settle();
    }
    advance(LIMIT_MILLIS - LONGEST_WAIT_MILLIS);
    assertThat(waiting).noneMatch(CompletableFuture::isDone);
    advance(2 * LONGEST_WAIT_MILLIS);
    waiting.forEach(HeldTimersTest::assertBusy);
    assertThat(scheduler.stats().queued()).isZero();
    asked.clear();
    advance(LIMIT_MILLIS);
    assertThat(asked).as("nothing is left to try").isEmpty();
  }

  private long triesOf(String id) {
    return asked.stream().filter(ids -> ids.contains(id)).count();
  }

  @Test
  void heldTimersKeepTheirBackoffWhileOthersArrive() {
    hold("x");
    CompletableFuture<?> waiting = schedule("x");
    advance(2_000);
    hold("new0"); // resets the count of tries
    CompletableFuture<?> unusedFirst = schedule("new0");
    for (int i = 1; i <= 40; i++) {
      held.add(new TimerKey("shop", "new" + i));
      CompletableFuture<?> unused = schedule("new" + i);
      advance(20);
    }
    assertThat(triesOf("x")).as("every 500 ms").isBetween(1L, 2L);
    assertThat(triesOf("new0")).as("after 10, 20, 40 ms and so on").isBetween(5L, 8L);
    assertThat(waiting).isNotDone();
  }

  @Test
  void heldTimersAreReleasedIndividually() {
    hold("x");
    hold("y");
    CompletableFuture<?> x = schedule("x");
    CompletableFuture<?> y = schedule("y");
    advance(1_000);
    held.remove(new TimerKey("shop", "y"));
    advance(LONGEST_WAIT_MILLIS);
    assertThat(y).isCompleted();
    assertThat(x).isNotDone();
    held.clear();
    advance(LONGEST_WAIT_MILLIS);
    assertThat(x).isCompleted();
  }

  @Test
  void callsForHeldTimersLeaveRoomForOthers() {
    hold("x");
    List<CompletableFuture<?>> waiting = new ArrayList<>();
    waiting.add(schedule("x"));
    stand.settle();
    for (int i = 0; i < 150; i++) {
      waiting.add(schedule("x"));
      stand.settle();
    }
    assertThat(waiting).filteredOn(CompletableFuture::isDone).hasSize(101);
    waiting.stream().filter(CompletableFuture::isDone).forEach(HeldTimersTest::assertBusy);
    CompletableFuture<?> other = schedule("t");
    stand.settle();
    assertThat(other).isCompleted();
    held.clear();
    advance(LONGEST_WAIT_MILLIS);
    assertThat(waiting).allMatch(CompletableFuture::isDone);
    assertThat(scheduler.stats().queued()).isZero();
  }

  @Test
  void callsForManyHeldTimersLeaveRoomForOthers() {
    List<CompletableFuture<?>> waiting = new ArrayList<>();
    for (int i = 0; i < 150; i++) {
      hold("x" + i);
      waiting.add(schedule("x" + i));
      stand.settle();
    }
    assertThat(waiting.subList(0, 50)).noneMatch(CompletableFuture::isDone);
    waiting.subList(50, 150).forEach(HeldTimersTest::assertBusy);
    CompletableFuture<?> other = schedule("t");
    stand.settle();
    assertThat(other).isCompleted();
    advance(LIMIT_MILLIS - LONGEST_WAIT_MILLIS);
    assertThat(waiting.subList(0, 50)).as("keep their room").noneMatch(CompletableFuture::isDone);
    held.clear();
    advance(LONGEST_WAIT_MILLIS);
    assertThat(waiting.subList(0, 50)).allSatisfy(call -> assertThat(call).isCompleted());
    CompletableFuture<?> refusedBefore = schedule("x149");
    stand.settle();
    assertThat(refusedBefore).isCompleted();
    assertThat(scheduler.stats().queued()).isZero();
  }

  @Test
  void anExceptionWhoseMessageThrowsFailsItsBatchAndLeavesNoTimerHeld() {
    hold("x");
    CompletableFuture<?> first = schedule("x");
    stand.settle();
    failure =
        new IllegalStateException() {
          @Override
          public String getMessage() {
            throw new UnsupportedOperationException();
          }
        };
    advance(LONGEST_WAIT_MILLIS);
    assertThat(first).isCompletedExceptionally();
    failure = null;
    held.clear();
    CompletableFuture<?> later = schedule("x");
    advance(LONGEST_WAIT_MILLIS);
    assertThat(later).isCompleted();
    assertThat(scheduler.stats().queued()).isZero();
  }

  @Test
  void theEndOfAnAttemptWaitsWithoutLimit() {
    scheduler.schedule(Scene.spec("x").after(Duration.ofMillis(100)));
    advance(50);
    Duration claimedAhead = Duration.ofMillis(50);
    stand.handlers.execute(() -> hold("x")); // after the claim, before the end
    stand.advance(claimedAhead);
    advance(4 * LIMIT_MILLIS);
    held.clear();
    advance(LONGEST_WAIT_MILLIS);
    assertThat(fired).containsExactly("x");
    assertThat(data.get(new TimerKey("shop", "x")).state()).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void aCloseFailsWaitingCalls() {
    hold("x");
    CompletableFuture<?> first = schedule("x");
    stand.settle();
    CompletableFuture<?> second = schedule("x");
    stand.settle();
    scheduler.close(Duration.ZERO);
    stand.settle();
    for (CompletableFuture<?> call : List.of(first, second)) {
      assertThatThrownBy(() -> call.getNow(null))
          .cause()
          .isInstanceOfSatisfying(
              DurableTimerException.class,
              e -> assertThat(e.reason()).isEqualTo(Reason.STORE_UNAVAILABLE));
    }
  }

  @Test
  void aStoppedWheelLeavesNoCallWaiting() {
    hold("x");
    CompletableFuture<?> call = schedule("x");
    stand.settle();
    stand.manual.stop();
    assertThatThrownBy(() -> schedule("t")).isInstanceOf(IllegalStateException.class);
    stand.settle();
    assertThat(call).isCompletedExceptionally();
  }
}
