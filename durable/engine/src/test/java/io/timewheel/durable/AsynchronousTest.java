// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.testkit.DurableTestkit;
import io.timewheel.durable.testkit.FaultyStore;
import io.timewheel.testing.Await;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Verifies the asynchronous variant of each operation. */
class AsynchronousTest {
  private static final Instant LATER = DurableTestkit.START.plusSeconds(3_600);
  private static final TimerKey A = new TimerKey("ns", "a");
  private static final TimerKey B = new TimerKey("ns", "b");
  private static final TimerKey NONE = new TimerKey("ns", "none");

  private final DurableTestkit kit = DurableTestkit.create();
  private final FaultyStore store = new FaultyStore(InMemoryTimerStore.create());
  private final List<String> fired = new ArrayList<>();
  private final DurableTimer timer =
      kit.start(store, builder -> builder.handler("h", firing -> fired.add(firing.id())));

  private static TimerSpec spec(TimerKey key) {
    return TimerSpec.of(key.namespace(), key.id()).handler("h").at(LATER);
  }

  /**
   * Verifies that the call itself changes nothing, and that the stage completes after the change.
   */
  private <T> T done(Supplier<CompletionStage<T>> call) {
    var future = call.get().toCompletableFuture();
    assertThat(future).isNotDone();
    kit.settle();
    assertThat(future).isDone();
    return future.join();
  }

  private TimerState state(TimerKey key) {
    return timer.get(key.namespace(), key.id()).orElseThrow().state();
  }

  @Test
  void schedulesAndCancels() {
    ScheduleResult made = done(() -> timer.scheduleAsync(spec(A)));
    assertThat(made.outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    assertThat(done(() -> timer.cancelAsync(A, made.version())).outcome())
        .isEqualTo(CancelResult.Outcome.CANCELLED);
    assertThat(done(() -> timer.cancelAsync("ns", "none")).outcome())
        .isEqualTo(CancelResult.Outcome.NOT_FOUND);
  }

  @Test
  void aResultContainsTheTimerAsItIsStored() {
    TimerSpec every =
        TimerSpec.of("ns", "a").handler("h").every(Duration.ofHours(1)).payload(new byte[] {1});
    done(() -> timer.scheduleAsync(spec(A)));

    ScheduleResult replaced = done(() -> timer.scheduleAsync(every));

    assertThat(replaced.outcome()).isEqualTo(ScheduleResult.Outcome.REPLACED);
    assertThat(replaced.timer())
        .usingRecursiveComparison()
        .ignoringFields("readAtMillis")
        .isEqualTo(timer.get("ns", "a").orElseThrow());
  }

  @Test
  void appliesCommandsOfOperators() {
    done(() -> timer.scheduleAsync(spec(A)));
    assertThat(done(() -> timer.pauseAsync("ns", "a"))).isEqualTo(VerbResult.DONE);
    assertThat(state(A)).isEqualTo(TimerState.PAUSED);
    assertThat(done(() -> timer.resumeAsync("ns", "a"))).isEqualTo(VerbResult.DONE);
    assertThat(done(() -> timer.moveAsync(A, LATER.plusSeconds(1), 0))).isEqualTo(VerbResult.DONE);
    assertThat(timer.get("ns", "a").orElseThrow().dueAt()).isEqualTo(LATER.plusSeconds(1));
    assertThat(done(() -> timer.retryAsync("ns", "a"))).isEqualTo(VerbResult.WRONG_STATE);
    assertThat(done(() -> timer.verbAsync(A, Verb.PAUSE, 1))).isEqualTo(VerbResult.VERSION_DIFFERS);
    assertThat(done(() -> timer.runNowAsync("ns", "a"))).isEqualTo(VerbResult.DONE);
    assertThat(fired).containsExactly("a");
  }

  @Test
  void appliesEachItemOfABatchOnItsOwn() {
    assertThat(
            done(
                () ->
                    timer.scheduleAllAsync(
                        List.of(spec(A), TimerSpec.of("ns", "x").handler("h"), spec(B)))))
        .extracting(BatchResult::key, result -> result.error() == null)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(A, true),
            org.assertj.core.groups.Tuple.tuple(new TimerKey("ns", "x"), false),
            org.assertj.core.groups.Tuple.tuple(B, true));
    List<TimerKey> keys = List.of(A, NONE, B);
    assertThat(done(() -> timer.verbAllAsync(keys, Verb.PAUSE)))
        .extracting(BatchResult::orThrow)
        .containsExactly(VerbResult.DONE, VerbResult.NOT_FOUND, VerbResult.DONE);
    assertThat(done(() -> timer.moveAllAsync(keys, LATER)))
        .extracting(BatchResult::orThrow)
        .containsExactly(VerbResult.DONE, VerbResult.NOT_FOUND, VerbResult.DONE);
    assertThat(done(() -> timer.cancelAllAsync(keys)))
        .extracting(result -> result.orThrow().outcome())
        .containsExactly(
            CancelResult.Outcome.CANCELLED,
            CancelResult.Outcome.NOT_FOUND,
            CancelResult.Outcome.CANCELLED);
    assertThat(timer.moveAll(keys, LATER))
        .extracting(BatchResult::orThrow)
        .containsExactly(VerbResult.WRONG_STATE, VerbResult.NOT_FOUND, VerbResult.WRONG_STATE);
  }

  @Test
  void pausesNamespacesAndEverything() {
    done(() -> timer.pauseAsync("ns"));
    done(timer::pauseAllAsync);
    assertThat(timer.paused()).containsExactlyInAnyOrder("ns", "");
    done(() -> timer.scheduleAsync(spec(A)));
    kit.advanceBy(Duration.ofHours(2));
    done(() -> timer.resumeAsync("ns"));
    assertThat(fired).isEmpty();
    done(timer::resumeAllAsync);
    assertThat(timer.paused()).isEmpty();
    assertThat(fired).containsExactly("a");
  }

  @Test
  void failsTheStageWithTheReason() {
    store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
    var failed = timer.scheduleAsync(spec(A)).toCompletableFuture();
    kit.settle();
    assertThatThrownBy(failed::join)
        .cause()
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.STORE_UNAVAILABLE));
    var batch = timer.scheduleAllAsync(List.of(spec(A), spec(B))).toCompletableFuture();
    kit.settle();
    assertThat(batch.join())
        .allSatisfy(result -> assertThat(result.error()).isInstanceOf(DurableTimerException.class));
  }

  @Test
  void failsTheStageAfterAnErrorOfTheJvm() {
    ForwardingTimerStore failing =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public int pause(String scope) {
            throw new NoClassDefFoundError("on purpose");
          }
        };
    var paused = kit.start(failing, builder -> {}).pauseAsync("ns").toCompletableFuture();
    kit.settle();
    assertThat(paused).isCompletedExceptionally();
    assertThatThrownBy(paused::join).hasRootCauseInstanceOf(NoClassDefFoundError.class);
  }

  @Test
  void aCloseFailsTheStageOfACallThatTheExecutorRejects() {
    AtomicBoolean isFull = new AtomicBoolean();
    DurableTimer closing =
        DurableTimer.builder(InMemoryTimerStore.create())
            .storeExecutor(
                task -> {
                  if (isFull.get()) {
                    throw new RejectedExecutionException("on purpose");
                  }
                  new Thread(task).start();
                })
            .start();
    isFull.set(true);
    var paused = closing.pauseAsync("ns").toCompletableFuture();
    closing.close(Duration.ZERO);
    Await.until(paused::isDone); // a thread of the engine completes it
    assertThat(paused).isCompletedExceptionally();
  }

  @Test
  void throwsAtOnceIfAnArgumentIsInvalidOrItIsClosed() {
    assertThatThrownBy(() -> timer.scheduleAsync(null)).hasMessage("spec");
    assertThatThrownBy(() -> timer.pauseAsync("")).hasMessageContaining("namespace: 0 bytes");
    timer.close();
    assertThatThrownBy(() -> timer.cancelAsync("ns", "a"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the durable timer is closed");
    assertThatThrownBy(() -> timer.pauseAsync("ns")).hasMessage("the durable timer is closed");
    assertThatThrownBy(() -> timer.cancelAll(List.of(A))).hasMessage("the durable timer is closed");
    assertThatThrownBy(() -> timer.get("ns", "a")).hasMessage("the durable timer is closed");
  }

  @Test
  void aCallIsAnsweredIfTheHandlersExecutorRejectsTheAnswer() {
    DurableTimer refused =
        kit.start(
            InMemoryTimerStore.create(),
            builder ->
                builder.handlerExecutor(
                    task -> {
                      throw new java.util.concurrent.RejectedExecutionException("full");
                    }));
    var result = refused.scheduleAsync(spec(A)).toCompletableFuture();
    kit.settle();
    assertThat(result.join().outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
  }
}
