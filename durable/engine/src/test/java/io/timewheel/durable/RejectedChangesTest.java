// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.testkit.FaultyStore;
import io.timewheel.durable.testkit.FaultyStore.Fault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.logging.Level;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Verifies changes of the engine that the store rejects. Each is reported and retried, affects no
 * other timer, and is applied once the store accepts it.
 */
@Tag("promise-43")
class RejectedChangesTest {
  private static final long MAINTENANCE_MILLIS = 60_000;

  @RegisterExtension private final LogLines log = new LogLines(Level.WARNING);
  private final Scene scene = new Scene(builder -> builder.handler("one", firing -> {}, 1, null));
  private int commits;

  private void reject(Predicate<Change> bad) {
    scene.store.faults(
        changes -> {
          commits++;
          return changes.stream().anyMatch(bad) ? Fault.REJECTED : Fault.NONE;
        });
  }

  private void rejectNothing() {
    reject(change -> false);
  }

  private static boolean isEnd(Change change) {
    return change instanceof Change.Finish;
  }

  @Test
  void oneOfManyChangesCostsFewCommits() {
    reject(change -> change.key().id().equals("t2500"));
    List<TimerSpec> specs =
        IntStream.range(0, 4_000)
            .mapToObj(i -> Scene.spec("t" + i).after(Duration.ofHours(1)))
            .toList();
    var results = scene.scheduler.scheduleAll(specs);
    assertThat(commits).isLessThan(2 * 12 + 2);
    for (int i = 0; i < specs.size(); i++) {
      assertThat(results.get(i).error() == null).as("t" + i).isEqualTo(i != 2_500);
    }
    assertThat(scene.scheduler.counts().get("shop")).containsEntry(TimerState.SCHEDULED, 3_999L);
  }

  @Test
  void changesOfOneTimerStayInOrderAfterARejectedOne() {
    reject(change -> change.key().id().equals("bad"));
    List<CompletableFuture<?>> answers = new ArrayList<>();
    List<Object> expected = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      if (i == 13) {
        scene.scheduler.async().schedule(Scene.spec("bad").after(Duration.ofHours(1)));
      }
      answers.add(
          scene
              .scheduler
              .async()
              .schedule(Scene.spec("a").after(Duration.ofHours(1)))
              .thenApply(ScheduleResult::outcome)
              .toCompletableFuture());
      expected.add(ScheduleResult.Outcome.CREATED);
      answers.add(
          scene
              .scheduler
              .async()
              .timer("shop", "a")
              .cancel()
              .thenApply(CancelResult::outcome)
              .toCompletableFuture());
      expected.add(CancelResult.Outcome.CANCELLED);
    }
    scene.kit.settle();
    assertThat(commits).isGreaterThan(2);
    assertThat(answers).extracting(answer -> answer.getNow(null)).isEqualTo(expected);
  }

  @Test
  void aRejectedClaimIsRetriedAfterAMinute() {
    scene.schedule("bad", 1_000);
    scene.schedule("good", 1_000);
    reject(change -> change instanceof Change.Begin && change.key().id().equals("bad"));
    scene.advance(5_000);
    assertThat(scene.fired).containsExactly("good@1000");
    assertThat(scene.scheduler.stats().rejected()).isEqualTo(1);
    assertThat(log.lines())
        .containsExactly("timer shop/bad: rejected by the store: Begin: injected by the test");
    scene.advance(MAINTENANCE_MILLIS);
    assertThat(scene.scheduler.stats().rejected()).isEqualTo(2);
    rejectNothing();
    scene.advance(MAINTENANCE_MILLIS);
    assertThat(scene.fired).hasSize(2);
    assertThat(scene.state("bad")).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void rejectedClaimsUseNoSlots() {
    for (int i = 0; i < 20; i++) {
      scene.scheduler.schedule(
          TimerSpec.of("shop", "bad" + i).handler("one").after(Duration.ofSeconds(1)));
    }
    reject(change -> change.key().id().startsWith("bad"));
    scene.advance(2_000);
    scene.scheduler.schedule(TimerSpec.of("shop", "good").handler("one").after(Duration.ZERO));
    scene.kit.settle();
    assertThat(scene.state("good")).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void anEndWhoseTextIsRejectedIsRecordedWithAPlainOneAtOnce() {
    scene.handler =
        firing -> {
          throw new IllegalStateException("a text that no database takes");
        };
    reject(
        change ->
            change instanceof Change.Finish end
                && end.error() != null
                && end.error().contains("no database"));
    scene.scheduler.schedule(Scene.spec("a").after(Duration.ZERO).retry(Scene.ONCE));
    scene.kit.settle();
    assertThat(scene.state("a")).isEqualTo(TimerState.FAILED);
    assertThat(scene.info("a").attempts())
        .extracting(Attempt::error)
        .containsExactly("failed; the store rejected the text of the error");
    assertThat(scene.scheduler.stats().rejected()).isEqualTo(1);
    assertThat(scene.scheduler.stats().ownQueued()).isZero();
  }

  @Test
  void aRejectedEndIsRetriedUntilItIsAccepted() {
    reject(RejectedChangesTest::isEnd);
    scene.schedule("a", 1_000);
    scene.advance(1_000);
    assertThat(scene.state("a")).isEqualTo(TimerState.RUNNING);
    assertThat(scene.scheduler.stats().ownQueued()).isEqualTo(1);
    int before = commits;
    scene.advance(10 * MAINTENANCE_MILLIS);
    assertThat(commits - before).isEqualTo(10); // no busy loop
    assertThat(scene.scheduler.stats().rejected()).isEqualTo(11);
    rejectNothing();
    scene.advance(MAINTENANCE_MILLIS);
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
    assertThat(scene.fired).containsExactly("a@1000");
    assertThat(scene.scheduler.stats().ownQueued()).isZero();
    assertThat(log.lines().get(0)).contains("rejected by the store: Finish");
  }

  @Test
  void aRecurringTimerContinuesOnceItsEndIsAccepted() {
    reject(RejectedChangesTest::isEnd);
    scene.scheduler.schedule(Scene.spec("a").every(Duration.ofHours(1)));
    scene.advance(3_600_000);
    rejectNothing();
    scene.advance(3_600_000);
    assertThat(scene.fired).containsExactly("a@3600000", "a@7200000");
  }

  @Test
  void rejectedEndsBeyondTheLimitAreLeftToTheNextOwner() {
    reject(RejectedChangesTest::isEnd);
    for (int i = 0; i < 1_200; i++) {
      scene.schedule("t" + i, 1_000);
    }
    scene.advance(2_000);
    assertThat(scene.fired).hasSize(1_200);
    assertThat(scene.scheduler.stats().ownQueued()).isEqualTo(1_000);
    commits = 0;
    scene.advance(MAINTENANCE_MILLIS);
    assertThat(commits).isLessThan(2_100); // halved repeatedly, down to single changes
    rejectNothing();
    scene.advance(MAINTENANCE_MILLIS);
    assertThat(scene.scheduler.counts().get("shop"))
        .containsEntry(TimerState.COMPLETED, 1_000L)
        .containsEntry(TimerState.RUNNING, 200L);
    scene.restart();
    scene.advance(1_000);
    assertThat(scene.scheduler.counts().get("shop")).containsOnlyKeys(TimerState.COMPLETED);
  }

  @Test
  void aRejectedEndDoesNotHoldItsShard() {
    FaultyStore rejecting = new FaultyStore(InMemoryTimerStore.create());
    StoreListener[] engine = new StoreListener[1];
    ForwardingTimerStore store =
        new ForwardingTimerStore(rejecting) {
          @Override
          public void start(StoreListener listener) {
            engine[0] = listener;
            super.start(listener);
          }
        };
    DurableTimer scheduler = scene.kit.start(store, builder -> builder.handler("h", firing -> {}));
    rejecting.faults(
        changes ->
            changes.stream().anyMatch(RejectedChangesTest::isEnd) ? Fault.REJECTED : Fault.NONE);
    scheduler.schedule(Scene.spec("a").after(Duration.ZERO));
    scene.kit.settle();
    var released = engine[0].releasing(0).toCompletableFuture();
    assertThat(released).isDone();
    assertThat(scheduler.stats().ownQueued()).isZero();
  }

  @Test
  void rejectedChangesOfQueuesAreRetriedToo() {
    reject(change -> change instanceof Change.MakeReady);
    scene.scheduler.schedule(TimerSpec.of("shop", "a").queue("q").after(Duration.ZERO));
    scene.kit.settle();
    assertThat(scene.state("a")).isEqualTo(TimerState.SCHEDULED);
    rejectNothing();
    scene.advance(MAINTENANCE_MILLIS);
    assertThat(scene.state("a")).isEqualTo(TimerState.READY);
  }

  @Test
  void aCloseDoesNotWaitForRejectedChanges() {
    reject(RejectedChangesTest::isEnd);
    scene.schedule("a", 0);
    scene.kit.settle();
    scene.kit.close(scene.scheduler);
    scene.reopen();
    assertThat(scene.fired).hasSize(2);
    assertThat(scene.info("a").attempts())
        .extracting(Attempt::end)
        .isEqualTo(List.of(Attempt.End.LOST, Attempt.End.SUCCEEDED));
  }
}
