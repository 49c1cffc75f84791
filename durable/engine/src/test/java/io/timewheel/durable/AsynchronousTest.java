// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.durable.testkit.DurableTestkit;
import io.timewheel.durable.testkit.FaultyStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
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
  private final DurableTimer scheduler =
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
    return scheduler.timer(key.namespace(), key.id()).get().orElseThrow().state();
  }

  @Test
  void schedulesAndCancels() {
    ScheduleResult made = done(() -> scheduler.async().schedule(spec(A)));
    assertThat(made.outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    assertThat(done(() -> scheduler.async().timer(A).ifVersion(made.version()).cancel()).outcome())
        .isEqualTo(CancelResult.Outcome.CANCELLED);
    assertThat(done(() -> scheduler.async().timer("ns", "none").cancel()).outcome())
        .isEqualTo(CancelResult.Outcome.NOT_FOUND);
  }

  @Test
  void aResultContainsTheTimerAsItIsStored() {
    TimerSpec every =
        TimerSpec.of("ns", "a").handler("h").every(Duration.ofHours(1)).payload(new byte[] {1});
    done(() -> scheduler.async().schedule(spec(A)));

    ScheduleResult replaced = done(() -> scheduler.async().schedule(every));

    assertThat(replaced.outcome()).isEqualTo(ScheduleResult.Outcome.REPLACED);
    assertThat(replaced.timer())
        .usingRecursiveComparison()
        .ignoringFields("readAtMillis")
        .isEqualTo(scheduler.timer("ns", "a").get().orElseThrow());
  }

  @Test
  void appliesCommandsOfOperators() {
    done(() -> scheduler.async().schedule(spec(A)));
    assertThat(done(() -> scheduler.async().timer("ns", "a").pause())).isEqualTo(VerbResult.DONE);
    assertThat(state(A)).isEqualTo(TimerState.PAUSED);
    assertThat(done(() -> scheduler.async().timer("ns", "a").resume())).isEqualTo(VerbResult.DONE);
    assertThat(done(() -> scheduler.async().timer(A).move(LATER.plusSeconds(1))))
        .isEqualTo(VerbResult.DONE);
    assertThat(scheduler.timer("ns", "a").get().orElseThrow().dueAt())
        .isEqualTo(LATER.plusSeconds(1));
    assertThat(done(() -> scheduler.async().timer("ns", "a").retry()))
        .isEqualTo(VerbResult.WRONG_STATE);
    assertThat(done(() -> scheduler.async().timer(A).ifVersion(1).pause()))
        .isEqualTo(VerbResult.VERSION_DIFFERS);
    assertThat(done(() -> scheduler.async().timer("ns", "a").runNow())).isEqualTo(VerbResult.DONE);
    assertThat(fired).containsExactly("a");
  }

  @Test
  void appliesEachItemOfABatchOnItsOwn() {
    assertThat(
            done(
                () ->
                    scheduler
                        .async()
                        .scheduleAll(
                            List.of(spec(A), TimerSpec.of("ns", "x").handler("h"), spec(B)))))
        .extracting(BatchResult::key, result -> result.error() == null)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(A, true),
            org.assertj.core.groups.Tuple.tuple(new TimerKey("ns", "x"), false),
            org.assertj.core.groups.Tuple.tuple(B, true));
    List<TimerKey> keys = List.of(A, NONE, B);
    assertThat(done(() -> scheduler.async().timers(keys).pause()))
        .extracting(BatchResult::orThrow)
        .containsExactly(VerbResult.DONE, VerbResult.NOT_FOUND, VerbResult.DONE);
    assertThat(done(() -> scheduler.async().timers(keys).move(LATER)))
        .extracting(BatchResult::orThrow)
        .containsExactly(VerbResult.DONE, VerbResult.NOT_FOUND, VerbResult.DONE);
    assertThat(done(() -> scheduler.async().timers(keys).cancel()))
        .extracting(result -> result.orThrow().outcome())
        .containsExactly(
            CancelResult.Outcome.CANCELLED,
            CancelResult.Outcome.NOT_FOUND,
            CancelResult.Outcome.CANCELLED);
    assertThat(scheduler.timers(keys).move(LATER))
        .extracting(BatchResult::orThrow)
        .containsExactly(VerbResult.WRONG_STATE, VerbResult.NOT_FOUND, VerbResult.WRONG_STATE);
  }

  @Test
  void pausesNamespacesAndEverything() {
    scheduler.namespace("ns").pause();
    scheduler.allNamespaces().pause();
    assertThat(scheduler.paused()).containsExactlyInAnyOrder("ns", "");
    done(() -> scheduler.async().schedule(spec(A)));
    kit.advanceBy(Duration.ofHours(2));
    scheduler.namespace("ns").resume();
    kit.settle();
    assertThat(fired).isEmpty();
    scheduler.allNamespaces().resume();
    kit.settle();
    assertThat(scheduler.paused()).isEmpty();
    assertThat(fired).containsExactly("a");
  }

  @Test
  void failsTheStageWithTheReason() {
    store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
    var failed = scheduler.async().schedule(spec(A)).toCompletableFuture();
    kit.settle();
    assertThatThrownBy(failed::join)
        .cause()
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.STORE_UNAVAILABLE));
    var batch = scheduler.async().scheduleAll(List.of(spec(A), spec(B))).toCompletableFuture();
    kit.settle();
    assertThat(batch.join())
        .allSatisfy(result -> assertThat(result.error()).isInstanceOf(DurableTimerException.class));
  }

  @Test
  void throwsAtOnceIfAnArgumentIsInvalidOrItIsClosed() {
    assertThatThrownBy(() -> scheduler.async().schedule(null)).hasMessage("spec");
    scheduler.close();
    assertThatThrownBy(() -> scheduler.async().timer("ns", "a").cancel())
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the durable timer is closed");
    assertThatThrownBy(() -> scheduler.namespace("ns").pause())
        .hasMessage("the durable timer is closed");
    assertThatThrownBy(() -> scheduler.timers(List.of(A)).cancel())
        .hasMessage("the durable timer is closed");
    assertThatThrownBy(() -> scheduler.timer("ns", "a").get())
        .hasMessage("the durable timer is closed");
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
    var result = refused.async().schedule(spec(A)).toCompletableFuture();
    kit.settle();
    assertThat(result.join().outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
  }
}
