// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.testkit.FaultyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Verifies stores and executors that violate their contracts: calls fail, and the engine continues
 * as soon as it can.
 */
class FailingStoreTest {
  private final List<String> fired = new ArrayList<>();
  private final Stand stand = new Stand();
  private final InMemoryTimerStore data = InMemoryTimerStore.create();

  /** Changes the answers of the store; may throw. */
  private UnaryOperator<List<Outcome>> answer = outcomes -> outcomes;

  /** Throws the failure of the store for a batch, before the commit. */
  private Consumer<List<Change>> before = changes -> {};

  private final ForwardingTimerStore store =
      new ForwardingTimerStore(data) {
        @Override
        public List<Outcome> commit(List<Change> changes) {
          before.accept(changes);
          return answer.apply(super.commit(changes));
        }
      };
  private final DurableTimer scheduler = stand.start(store, this::settings);

  private void settings(DurableTimerBuilder builder) {
    builder.handler("h", firing -> fired.add(firing.id()));
  }

  private static TimerSpec spec(String id) {
    return TimerSpec.of("shop", id).handler("h");
  }

  private TimerState state(String id) {
    return data.get(new TimerKey("shop", id)).state();
  }

  private void advance(long millis) {
    stand.advance(Duration.ofMillis(millis));
  }

  private CompletableFuture<?> schedule(String id, long millis) {
    CompletableFuture<?> result =
        scheduler.async().schedule(spec(id).after(Duration.ofMillis(millis))).toCompletableFuture();
    stand.settle();
    return result;
  }

  private static void assertFailed(CompletableFuture<?> result, Reason reason) {
    assertThatThrownBy(() -> result.getNow(null))
        .cause()
        .isInstanceOfSatisfying(
            DurableTimerException.class, e -> assertThat(e.reason()).isEqualTo(reason));
  }

  // The executor

  @Test
  void callsFailWhileTheExecutorRejectsAndSucceedAfterwards() {
    schedule("a", 2_000).join();
    for (Throwable refusal :
        List.of(
            new RejectedExecutionException("full"),
            new OutOfMemoryError("unable to create native thread"),
            new StackOverflowError())) {
      stand.storeWork.refusal = refusal;
      assertFailed(schedule("b", 0), Reason.STORE_UNAVAILABLE);
      assertFailed(schedule("b", 0), Reason.STORE_UNAVAILABLE);
    }
    advance(5_000);
    assertThat(fired).isEmpty();
    stand.storeWork.refusal = null;
    schedule("c", 0).join();
    advance(2_000);
    assertThat(fired).containsExactlyInAnyOrder("a", "c");
    assertThat(state("a")).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void claimsAndEndsWaitForAnExecutorThatRefuses() {
    schedule("a", 1_000).join();
    stand.storeWork.refusal = new RejectedExecutionException("full");
    advance(5_000);
    stand.storeWork.refusal = null;
    advance(1_100); // no call comes
    assertThat(fired).containsExactly("a");
    assertThat(state("a")).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void commitsNoChangeThatAnExecutorAcceptsAndThenRejects() {
    stand.storeWork.lateRefusal = new RejectedExecutionException("too late");
    assertFailed(schedule("a", 0), Reason.STORE_UNAVAILABLE);
    stand.storeWork.lateRefusal = null;
    advance(2_000);
    assertThat(data.get(new TimerKey("shop", "a"))).isNull();
    schedule("b", 0).join();
    stand.settle();
    assertThat(fired).containsExactly("b");
  }

  @Test
  void processesItsClaimsWithAnExecutorThatRejects() {
    schedule("a", 1_000).join();
    answer =
        outcomes -> {
          stand.storeWork.refusal = new RejectedExecutionException("full");
          return outcomes;
        };
    advance(1_000); // the claim is committed
    answer = UnaryOperator.identity();
    assertThat(fired).containsExactly("a");
    stand.storeWork.refusal = null;
    advance(1_100);
    assertThat(fired).containsExactly("a");
    assertThat(state("a")).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void processesItsClaimsOnceWithAnExecutorThatAcceptsAndThenRejects() {
    schedule("a", 1_000).join();
    answer =
        outcomes -> {
          stand.storeWork.lateRefusal = new RejectedExecutionException("too late");
          return outcomes;
        };
    advance(1_000);
    answer = UnaryOperator.identity();
    stand.storeWork.lateRefusal = null;
    advance(5_000);
    assertThat(fired).containsExactly("a");
    assertThat(state("a")).isEqualTo(TimerState.COMPLETED);
  }

  // Answers

  private void goesOnAfter(UnaryOperator<List<Outcome>> wrong) {
    schedule("a", 1_000).join();
    answer = wrong;
    assertFailed(schedule("b", 10_000), Reason.UNKNOWN);
    advance(3_000);
    answer = outcomes -> outcomes;
    advance(20_000);
    assertThat(fired).containsExactly("a", "b");
    assertThat(state("a")).isEqualTo(TimerState.COMPLETED);
    assertThat(scheduler.stats().unknownOutcomes()).isPositive();
  }

  @Test
  void continuesAfterNoAnswer() {
    goesOnAfter(outcomes -> null);
  }

  @Test
  void continuesAfterTooFewAnswers() {
    goesOnAfter(outcomes -> outcomes.subList(1, outcomes.size()));
  }

  @Test
  void continuesAfterNullAnswers() {
    goesOnAfter(outcomes -> Arrays.asList(new Outcome[outcomes.size()]));
  }

  @Test
  void continuesAfterAnError() {
    goesOnAfter(
        outcomes -> {
          throw new NoClassDefFoundError("of the driver");
        });
  }

  // One invalid change

  @Test
  void oneChangeThatTheStoreCannotCommitAffectsNoOther() {
    for (int i = 0; i < 100; i++) {
      scheduler.schedule(spec("t" + i).after(Duration.ofSeconds(1)));
    }
    int[] claims = new int[1];
    before =
        changes -> {
          List<String> begun =
              changes.stream()
                  .filter(change -> change instanceof Change.Begin)
                  .map(change -> change.key().id())
                  .toList();
          claims[0] += begun.isEmpty() ? 0 : 1;
          if (begun.contains("t42")) {
            throw new IllegalArgumentException("a record that cannot be read");
          }
        };
    advance(3_000);
    assertThat(fired).hasSize(99).doesNotHaveDuplicates().doesNotContain("t42");
    assertThat(claims[0]).isLessThan(30);
    for (int i = 0; i < 100; i++) {
      schedule("u" + i, 100).join(); // and no call fails because of it
      advance(50);
    }
    before = changes -> {};
    advance(6_000);
    assertThat(fired).hasSize(200).doesNotHaveDuplicates();
    assertThat(state("t42")).isEqualTo(TimerState.COMPLETED);
    assertThat(scheduler.stats().ownQueued()).isZero();
  }

  // The wheel

  @Test
  void retriesIfTheWheelIsFull() {
    schedule("a", 1_000).join();
    stand.wheel.refusal = new RejectedExecutionException("full");
    before =
        changes -> {
          throw new StoreException(StoreException.Kind.TRANSIENT, "in a moment", null);
        };
    advance(2_000);
    before = changes -> {};
    advance(3_000);
    assertThat(fired).containsExactly("a");
    assertThat(state("a")).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void refusesCallsWhenItsWheelIsStopped() {
    before =
        changes -> {
          throw new StoreException(StoreException.Kind.UNKNOWN, "who knows", null);
        };
    var repeated =
        scheduler
            .async()
            .schedule(spec("a").after(Duration.ofHours(1)).requestId("r"))
            .toCompletableFuture();
    var claim =
        scheduler
            .async()
            .queue("shop", "q")
            .claim(1, Duration.ofSeconds(30), Duration.ofSeconds(30))
            .toCompletableFuture();
    stand.settle();
    assertThat(repeated).isNotDone();
    assertThat(stand.manual.stop()).isNotEmpty();
    stand.settle();
    assertFailed(repeated, Reason.UNKNOWN);
    assertThat(claim.getNow(null)).isEmpty();
    assertThatThrownBy(() -> scheduler.schedule(spec("b").after(Duration.ZERO)))
        .isInstanceOf(IllegalStateException.class);
    scheduler.close();
  }

  @Test
  void detectsAWheelThatDiedSilently() {
    stand.wheel.refusal = new IllegalStateException("the timer thread has ended");
    schedule("a", 5_000).join();
    assertThatThrownBy(() -> scheduler.schedule(spec("b").after(Duration.ZERO)))
        .isInstanceOf(IllegalStateException.class);
  }

  // Start

  @Test
  void canBeStartedAgainIfTheStoreCouldNot() {
    boolean[] fails = {true};
    DurableTimer second =
        stand
            .builder(
                new ForwardingTimerStore(data.reopen()) {
                  @Override
                  public void start(StoreListener listener) {
                    if (fails[0]) {
                      throw new StoreException(
                          StoreException.Kind.UNAVAILABLE, "no connection", null);
                    }
                    super.start(listener);
                  }
                },
                this::settings)
            .build();
    assertThatThrownBy(second::start).hasMessage("no connection");
    assertThat(stand.manual.pendingTimeouts()).isEqualTo(1); // the tick of the other one
    fails[0] = false;
    second.start();
    second.schedule(spec("a").after(Duration.ofSeconds(1)));
    advance(2_000);
    assertThat(fired).containsExactly("a");
  }

  @Test
  void closesTheStoreIfTheStartFails() {
    boolean[] closed = {false};
    assertThatThrownBy(
            () ->
                stand.start(
                    new ForwardingTimerStore(data.reopen()) {
                      @Override
                      public void start(StoreListener listener) {
                        throw new StoreException(
                            StoreException.Kind.UNAVAILABLE, "no connection", null);
                      }

                      @Override
                      public void close() {
                        closed[0] = true;
                        throw new IllegalStateException("nor this");
                      }
                    },
                    this::settings))
        .hasMessage("no connection")
        .hasSuppressedException(new IllegalStateException("nor this"));
    assertThat(closed[0]).isTrue();
  }

  // Exceptions of callers

  @Test
  void throwsOneExceptionWithThatOfTheStoreAsItsCause() {
    FaultyStore store = new FaultyStore(data.reopen());
    try (DurableTimer waiting = DurableTimer.builder(store).start()) {
      store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
      assertThatThrownBy(() -> waiting.schedule(spec("a").after(Duration.ZERO)))
          .isInstanceOfSatisfying(
              DurableTimerException.class,
              e -> assertThat(e.reason()).isEqualTo(Reason.STORE_UNAVAILABLE))
          .cause()
          .isExactlyInstanceOf(StoreException.class);
    }
  }

  @Test
  void aFailureOfAStoreIsOneOfDurableTimers() {
    for (StoreException.Kind kind : StoreException.Kind.values()) {
      DurableTimerException failure = new StoreException(kind, "so", null);
      assertThat(failure.reason())
          .isEqualTo(
              switch (kind) {
                case TRANSIENT, UNAVAILABLE -> Reason.STORE_UNAVAILABLE;
                case REJECTED -> Reason.REJECTED;
                case UNKNOWN -> Reason.UNKNOWN;
              });
    }
  }
}
