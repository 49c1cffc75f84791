// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.FinishingAttempt;
import io.timewheel.durable.spi.FinishingHandler;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.Test;

/** Verifies calls of handlers that commit many attempts in one transaction. */
class FinishingHandlerTest {
  private static final int MAX_BATCH = 4;

  private final List<Integer> sizes = new ArrayList<>();
  private Consumer<List<? extends FinishingAttempt>> handler = this::commit;
  private final FinishingHandler batch =
      new FinishingHandler() {
        @Override
        public void handle(List<? extends FinishingAttempt> attempts) {
          sizes.add(attempts.size());
          handler.accept(attempts);
        }

        @Override
        public int maxBatch() {
          return MAX_BATCH;
        }
      };

  private DoubleSupplier random = () -> 0;
  private final Scene scene =
      new Scene(
          builder ->
              builder
                  .finishingHandler("batch", batch, 2 * MAX_BATCH)
                  .random(() -> random.getAsDouble()));
  private InMemoryTimerStore store = scene.data;

  /** Starts another scheduler, on its own store, whose attempts run on an executor. */
  private DurableTimer startWith(Executor executor) {
    store = InMemoryTimerStore.create();
    return scene.kit.start(
        store,
        builder ->
            builder.handlerExecutor(executor).finishingHandler("batch", batch, 2 * MAX_BATCH));
  }

  private void commit(List<? extends FinishingAttempt> attempts) {
    List<Outcome> outcomes =
        store.commit(attempts.stream().<Change>map(FinishingAttempt::success).toList());
    for (int i = 0; i < outcomes.size(); i++) {
      attempts.get(i).recorded(outcomes.get(i));
    }
  }

  private void schedule(int timers) {
    schedule(timers, Scene.ONCE);
  }

  private void schedule(int timers, RetryPolicy retry) {
    List<TimerSpec> specs = new ArrayList<>();
    for (int i = 0; i < timers; i++) {
      specs.add(TimerSpec.of("shop", "t" + i).handler("batch").after(Duration.ZERO).retry(retry));
    }
    var unused = scene.scheduler.async().scheduleAll(specs);
    scene.kit.settle();
  }

  private void runAll(Deque<Runnable> work) {
    for (Runnable one = work.poll(); one != null; one = work.poll()) {
      one.run();
      scene.kit.settle();
    }
  }

  private long number(TimerState state) {
    return scene.scheduler.counts().getOrDefault("shop", Map.of()).getOrDefault(state, 0L);
  }

  @Test
  void attemptsThatWaitForACallAreHandledByOneCall() {
    schedule(10);
    assertThat(sizes).containsExactly(1, 1, MAX_BATCH, MAX_BATCH);
    assertThat(number(TimerState.COMPLETED)).isEqualTo(10);
    assertThat(scene.scheduler.stats().fired()).isEqualTo(10);
    assertThat(scene.scheduler.stats().succeeded()).isEqualTo(10);
    assertThat(scene.scheduler.stats().running()).isZero();
  }

  @Test
  void eachAttemptOfACallHasItsOwnEnd() {
    handler =
        attempts -> {
          List<FinishingAttempt> good = new ArrayList<>(attempts);
          good.removeIf(attempt -> attempt.firing().id().equals("t3"));
          attempts.forEach(
              attempt -> {
                if (!good.contains(attempt)) {
                  attempt.failed(new IllegalStateException("poison"));
                }
              });
          commit(good);
        };
    schedule(6);
    assertThat(number(TimerState.COMPLETED)).isEqualTo(5);
    assertThat(scene.info("t3").lastError().orElseThrow()).contains("poison");
    assertThat(scene.scheduler.stats().succeeded()).isEqualTo(5);
  }

  @Test
  void anAttemptThatTheHandlerLeavesOpenHasFailed() {
    handler = attempts -> commit(attempts.subList(1, attempts.size()));
    schedule(6);
    assertThat(sizes).containsExactly(1, 1, MAX_BATCH);
    assertThat(number(TimerState.FAILED)).isEqualTo(3);
    assertThat(number(TimerState.COMPLETED)).isEqualTo(3);
  }

  @Test
  void anExceptionFailsTheAttemptsThatHaveNotEnded() {
    handler =
        attempts -> {
          commit(attempts.subList(0, 1));
          attempts.get(0).failed(new IllegalStateException("too late"));
          throw new IllegalStateException("thrown");
        };
    schedule(6);
    assertThat(number(TimerState.COMPLETED)).isEqualTo(3);
    assertThat(number(TimerState.FAILED)).isEqualTo(3);
    assertThat(scene.data.get(new TimerKey("shop", "t5")).attempts().get(0).error())
        .contains("thrown");
  }

  @Test
  void anEndThatCannotBeDeterminedFailsItsTimerAndNoOther() {
    handler =
        attempts -> {
          throw new IllegalStateException("down");
        };
    int[] draws = new int[1];
    random =
        () -> {
          draws[0]++;
          if (draws[0] == 4) { // the second attempt of the call of four
            throw new IllegalStateException("no random number");
          }
          return 0;
        };
    schedule(6, new RetryPolicy(2, Duration.ofSeconds(1), Duration.ofSeconds(1)));
    assertThat(sizes).containsExactly(1, 1, MAX_BATCH);
    assertThat(number(TimerState.RETRYING)).isEqualTo(5);
    assertThat(number(TimerState.FAILED)).isOne();
    assertThat(scene.info("t3").lastError().orElseThrow()).contains("no random number");
    assertThat(scene.scheduler.stats().running()).isZero();
  }

  @Test
  void theEndOfAnAttemptIsRecordedBeforeTheCallEnds() {
    List<Integer> recorded = new ArrayList<>();
    handler =
        attempts -> {
          attempts.get(0).failed(new IllegalStateException("poison"));
          recorded.add(scene.scheduler.stats().ownQueued());
          commit(attempts.subList(1, attempts.size()));
        };
    schedule(6);
    assertThat(recorded).hasSize(3).doesNotContain(0);
  }

  @Test
  void aTimeLimitIsRefusedBecauseItWouldInterruptOtherAttempts() {
    DurableTimerBuilder builder = DurableTimer.builder(InMemoryTimerStore.create());
    assertThatThrownBy(() -> builder.handler("batch", batch, MAX_BATCH, Duration.ofSeconds(5)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("timeLimit: PT5S (expected: none for a batch, whose attempts share a thread)");
  }

  @Test
  void attemptsThatTheExecutorHoldsAreGivenBackByAPause() {
    Deque<Runnable> work = new ArrayDeque<>();
    DurableTimer scheduler = startWith(work::add);
    runAll(work); // the task of the start
    scheduler.schedule(TimerSpec.of("shop", "held").handler("batch").after(Duration.ZERO));
    scene.kit.settle();
    assertThat(work).hasSize(1);
    scheduler.namespace("shop").pause();
    scene.kit.settle();
    runAll(work);
    assertThat(sizes).isEmpty();
    assertThat(scheduler.stats().running()).isZero();
    assertThat(scheduler.timer("shop", "held").get().orElseThrow().attempt()).isZero();
  }

  @Test
  void attemptsThatTheExecutorRejectsAreHandledLater() {
    Deque<Runnable> work = new ArrayDeque<>();
    boolean[] full = new boolean[1];
    DurableTimer scheduler =
        startWith(
            task -> {
              if (full[0]) {
                throw new RejectedExecutionException("full");
              }
              work.add(task);
            });
    runAll(work); // the task of the start
    full[0] = true;
    scheduler.schedule(TimerSpec.of("shop", "late").handler("batch").after(Duration.ZERO));
    scene.kit.settle();
    full[0] = false;
    assertThat(work).isEmpty();
    scene.kit.advanceBy(Duration.ofSeconds(1));
    runAll(work);
    assertThat(sizes).containsExactly(1);
    assertThat(scheduler.stats().succeeded()).isOne();
    assertThat(scheduler.stats().running()).isZero();
  }

  @Test
  void anAttemptWhoseNamespaceIsPausedDoesNotBegin() {
    handler =
        attempts -> {
          commit(attempts);
          if (sizes.size() == 1) {
            scene.scheduler.namespace("shop").pause();
          }
        };
    schedule(6);
    assertThat(scene.scheduler.stats().fired()).isLessThan(6);
    scene.scheduler.namespace("shop").resume();
    scene.kit.settle();
    assertThat(number(TimerState.COMPLETED)).isEqualTo(6);
    assertThat(scene.scheduler.stats().fired()).isEqualTo(6);
  }

  /** As {@code ScheduleTest.aRunThatIsPostponedAgainDropsNoRunUntilTheScheduleContinues}. */
  @Test
  void aRunThatIsPostponedAgainDropsNoRunUntilTheScheduleContinues() {
    handler =
        attempts -> {
          FinishingAttempt attempt = attempts.get(0);
          Instant later = scene.kit.now().plus(Duration.ofMinutes(155));
          Change end = sizes.size() <= 2 ? attempt.rescheduled(later) : attempt.success();
          attempt.recorded(store.commit(List.of(end)).get(0));
        };
    scene.scheduler.schedule(TimerSpec.of("shop", "a").handler("batch").every(Duration.ofHours(1)));
    scene.kit.advanceBy(Duration.ofMinutes(375)); // fires at 60, 215, 370 and 370
    assertThat(sizes).hasSize(4);
    assertThat(scene.scheduler.stats().skipped()).isEqualTo(4); // at 120, 180, 240 and 300
  }

  @Test
  void aFixedRateWhoseRunEndsAfterTheClockHasGoneBackContinues() {
    Deque<Runnable> work = new ArrayDeque<>();
    DurableTimer scheduler = startWith(work::add);
    handler =
        attempts -> {
          if (sizes.size() == 1) {
            scene.kit.skew(scheduler, Duration.ofHours(-1));
            scene.kit.advanceBy(Duration.ofSeconds(2)); // it is detected within a second
          }
          commit(attempts);
        };
    scheduler.schedule(TimerSpec.of("shop", "a").handler("batch").every(Duration.ofMinutes(10)));
    for (int minutes = 0; minutes < 22; minutes++) {
      scene.kit.advanceBy(Duration.ofMinutes(1));
      runAll(work);
    }
    assertThat(sizes).containsExactly(1, 1);
  }
}
