// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.timewheel.PolledTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests timeouts of futures. The tests control time and the executor. */
@SuppressWarnings("FutureReturnValueIgnored")
class FutureTimeoutsTest {
  private static final Duration DELAY = Duration.ofMillis(10);

  private final HandDriven hand = new HandDriven();
  private final FutureTimeouts timeouts = FutureTimeouts.on(hand.timer, hand.queue::add);
  private final CompletableFuture<String> future = new CompletableFuture<>();

  // orTimeout

  @Test
  @Tag("promise-36")
  void lateFutureFailsOnTheExecutor() {
    assertThat(timeouts.orTimeout(future, DELAY)).isSameAs(future);

    hand.pass(9);
    assertThat(hand.queue).isEmpty();
    hand.pass(1);
    assertThat(hand.queue).hasSize(1);
    assertThat(future).isNotDone();
    hand.work();

    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(future::get)
        .havingCause()
        .isInstanceOf(TimeoutException.class)
        .withMessage("not complete after PT0.01S");
  }

  @Test
  @Tag("promise-36")
  void futureThatCompletesTakesItsTimeoutOffTheTimerAtOnce() {
    CompletableFuture<String> failed = new CompletableFuture<>();
    CompletableFuture<String> cancelled = new CompletableFuture<>();
    CompletableFuture<String> valued = new CompletableFuture<>();
    timeouts.orTimeout(future, DELAY);
    timeouts.orTimeout(failed, DELAY);
    timeouts.orTimeout(cancelled, DELAY);
    timeouts.completeOnTimeout(valued, "late", DELAY);
    assertThat(hand.timer.pendingTimeouts()).isEqualTo(4);

    future.complete("in time");
    assertThat(hand.timer.pendingTimeouts()).isEqualTo(3);
    failed.completeExceptionally(new ArithmeticException());
    cancelled.cancel(false);
    valued.complete("in time");
    assertThat(hand.timer.pendingTimeouts()).isZero();

    hand.advance(20);
    assertThat(future).isCompletedWithValue("in time");
    assertThat(valued).isCompletedWithValue("in time");
    assertThat(cancelled).isCancelled();
  }

  @Test
  void futureThatCompletesWhileTheExecutorIsSlowKeepsItsResult() {
    timeouts.orTimeout(future, DELAY);
    hand.pass(10);
    future.complete("just in time");
    hand.work();
    assertThat(future).isCompletedWithValue("just in time");
  }

  @Test
  void completedFutureStartsNoTimeout() {
    future.complete("done");
    assertThat(timeouts.orTimeout(future, DELAY)).isSameAs(future);
    assertThat(timeouts.completeOnTimeout(future, "late", DELAY)).isSameAs(future);
    assertThat(hand.timer.stats().started()).isZero();
  }

  @Test
  void delaysOfZeroAndLessAreTheNextTick() {
    timeouts.orTimeout(future, Duration.ofSeconds(Long.MIN_VALUE));
    assertThat(hand.timer.poll()).isZero();
    hand.advance(1);
    assertThat(future).isCompletedExceptionally();
  }

  // completeOnTimeout

  @Test
  void lateFutureReceivesTheValue() {
    CompletableFuture<String> none = new CompletableFuture<>();
    assertThat(timeouts.completeOnTimeout(future, "late", DELAY)).isSameAs(future);
    timeouts.completeOnTimeout(none, null, DELAY);
    hand.advance(9);
    assertThat(future).isNotDone();
    hand.advance(1);
    assertThat(future).isCompletedWithValue("late");
    assertThat(none).isCompletedWithValue(null);
  }

  // The thread

  @Test
  @Tag("promise-36")
  void dependentsDoNotRunOnTheThreadOfTheTimer() {
    FutureTimeouts byDefault = FutureTimeouts.on(hand.timer);
    CompletableFuture<Thread> ranOn =
        byDefault
            .completeOnTimeout(future, "late", DELAY)
            .thenApply(value -> Thread.currentThread());
    hand.pass(10);
    assertThat(ranOn.join()).isNotSameAs(Thread.currentThread());
  }

  @Test
  @Tag("promise-35")
  void rejectingExecutorDoesNotLeaveTheFutureHanging() {
    RejectedExecutionException full = new RejectedExecutionException("full");
    FutureTimeouts on =
        FutureTimeouts.on(
            hand.timer,
            command -> {
              throw full;
            });
    on.orTimeout(future, DELAY);
    hand.pass(10);
    assertThat(future).isCompletedExceptionally();
    assertThat(hand.thrown).hasValue(full);
  }

  // The timer

  @Test
  @Tag("promise-35")
  void stoppedTimerFailsFuturesOnTheExecutor() {
    CompletableFuture<String> valued = new CompletableFuture<>();
    timeouts.orTimeout(future, DELAY);
    timeouts.completeOnTimeout(valued, "late", DELAY);

    hand.timer.stop();
    assertThat(future).isNotDone();
    hand.work();

    for (CompletableFuture<String> failed : List.of(future, valued)) {
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(failed::join)
          .havingCause()
          .isInstanceOf(RejectedExecutionException.class)
          .withMessage("the timer runs no more tasks");
    }
  }

  @Test
  void timerThatIsStoppedRefuses() {
    hand.timer.stop();
    assertThatIllegalStateException().isThrownBy(() -> timeouts.orTimeout(future, DELAY));
    assertThatIllegalStateException()
        .isThrownBy(() -> timeouts.completeOnTimeout(future, "late", DELAY));
    assertThat(future).isNotDone();
    Executor delayed = timeouts.delayedExecutor(DELAY);
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> delayed.execute(() -> {}))
        .withCauseInstanceOf(IllegalStateException.class);
  }

  @Test
  void timerAtItsLimitRefuses() {
    PolledTimer limited =
        PolledTimer.builder().timeSource(hand.clock).maxPendingTimeouts(1).build();
    FutureTimeouts on = FutureTimeouts.on(limited, hand.queue::add);
    on.orTimeout(future, DELAY);
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> on.orTimeout(new CompletableFuture<>(), DELAY));
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> on.delayedExecutor(DELAY).execute(() -> {}));
  }

  // delayedExecutor

  @Test
  void delayedExecutorWaitsForEachTask() {
    Executor delayed = timeouts.delayedExecutor(DELAY);
    CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> "first", delayed);
    hand.advance(5);
    CompletableFuture<String> second = CompletableFuture.supplyAsync(() -> "second", delayed);

    hand.pass(5);
    assertThat(first).isNotDone();
    hand.work();
    assertThat(first).isCompletedWithValue("first");
    assertThat(second).isNotDone();
    hand.advance(5);
    assertThat(second).isCompletedWithValue("second");
  }

  @Test
  void reportsATaskThatIsRejectedWhenDue() {
    RejectedExecutionException full = new RejectedExecutionException("full");
    List<Runnable> ran = new ArrayList<>();
    FutureTimeouts.on(
            hand.timer,
            command -> {
              throw full;
            })
        .delayedExecutor(DELAY)
        .execute(() -> ran.add(null));
    hand.pass(10);
    assertThat(hand.thrown).hasValue(full);
    assertThat(ran).isEmpty();
  }

  @Test
  void nullIsRefusedByName() {
    assertThatNullPointerException().isThrownBy(() -> FutureTimeouts.on(null)).withMessage("timer");
    assertThatNullPointerException()
        .isThrownBy(() -> FutureTimeouts.on(hand.timer, null))
        .withMessage("executor");
    assertThatNullPointerException()
        .isThrownBy(() -> timeouts.orTimeout(null, DELAY))
        .withMessage("future");
    assertThatNullPointerException()
        .isThrownBy(() -> timeouts.orTimeout(future, null))
        .withMessage("delay");
    assertThatNullPointerException()
        .isThrownBy(() -> timeouts.completeOnTimeout(null, "", DELAY))
        .withMessage("future");
    assertThatNullPointerException()
        .isThrownBy(() -> timeouts.completeOnTimeout(future, "", null))
        .withMessage("delay");
    assertThatNullPointerException()
        .isThrownBy(() -> timeouts.delayedExecutor(null))
        .withMessage("delay");
    assertThatNullPointerException()
        .isThrownBy(() -> timeouts.delayedExecutor(DELAY).execute(null))
        .withMessage("command");
  }
}
