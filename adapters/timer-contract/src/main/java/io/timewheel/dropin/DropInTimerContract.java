// SPDX-License-Identifier: Apache-2.0
package io.timewheel.dropin;

import static java.util.concurrent.TimeUnit.DAYS;
import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.timewheel.Timeout;
import io.timewheel.TimerListener;
import io.timewheel.TimerTask;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The behaviour that the library's users rely on, including all assertions of the library's own
 * tests. These tests use a clock that they advance.
 */
public abstract class DropInTimerContract<M, T, K> implements DropIn<M, T, K> {
  private final ManualTimer clock = ManualTimer.create();
  protected M timer;
  private final List<T> ran = new ArrayList<>();
  private final Body<T> nothing = timeout -> {};

  @BeforeEach
  void makeTimer() {
    timer = on(clock);
  }

  // Firing

  @Test
  void timeoutDoesNotRunBeforeItsDelay() {
    T timeout = start(timer, ran::add, 10, SECONDS);

    clock.advanceBy(Duration.ofSeconds(10).minusMillis(1));

    assertThat(ran).isEmpty();
    assertThat(isExpired(timeout)).isFalse();
    assertThat(isCancelled(timeout)).isFalse();
  }

  @Test
  void timeoutRunsOnceAfterItsDelay() {
    T timeout = start(timer, ran::add, 2, SECONDS);

    clock.advanceBy(Duration.ofSeconds(2));
    clock.advanceBy(Duration.ofDays(1));

    assertThat(ran).containsExactly(timeout);
    assertThat(isExpired(timeout)).isTrue();
    assertThat(isCancelled(timeout)).isFalse();
    assertThat(cancel(timeout)).isFalse();
  }

  @Test
  void timeoutReturnsItsTimerAndItsTask() {
    K task = task(nothing);
    T timeout = newTimeout(timer, task, 1, SECONDS);

    assertThat(timerOf(timeout)).isSameAs(timer);
    assertThat(taskOf(timeout)).isSameAs(task);
  }

  @Test
  void insideItsTaskATimeoutIsExpiredAndCannotBeCancelled() {
    List<Boolean> seen = new ArrayList<>();
    start(
        timer,
        timeout -> {
          seen.add(isExpired(timeout));
          seen.add(cancel(timeout));
          seen.add(isCancelled(timeout));
        },
        1,
        SECONDS);

    clock.advanceBy(Duration.ofSeconds(1));

    assertThat(seen).containsExactly(true, false, false);
  }

  @Test
  void taskRestartsItselfThroughItsTimeout() {
    List<Duration> times = new ArrayList<>();
    start(
        timer,
        timeout -> {
          times.add(clock.elapsed());
          if (times.size() < 3) {
            newTimeout(timerOf(timeout), taskOf(timeout), 1, SECONDS);
          }
        },
        1,
        SECONDS);

    clock.advanceBy(Duration.ofHours(1));

    assertThat(times)
        .containsExactly(Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ofSeconds(3));
  }

  @Test
  void runsAHundredThousandTimeoutsOfOneTick() {
    ManualTimer coarse = ManualTimer.create(settings -> settings.tick(Duration.ofMillis(200)));
    M timer = on(coarse);
    List<Duration> times = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      start(timer, timeout -> times.add(coarse.elapsed()), 125, MILLISECONDS);
    }

    coarse.advanceBy(Duration.ofMillis(650));

    assertThat(times).hasSize(100_000);
    assertThat(Set.copyOf(times)).containsExactly(Duration.ofMillis(200));
  }

  @Test
  void delaysOfZeroAndLessAreTheNextTick() {
    for (long delay : new long[] {0, -1, Long.MIN_VALUE}) {
      start(timer, ran::add, delay, NANOSECONDS);
    }
    assertThat(ran).isEmpty();

    clock.advanceBy(Duration.ofMillis(1));

    assertThat(ran).hasSize(3);
  }

  @Test
  void longestDelayNeverFires() {
    T timeout = start(timer, ran::add, Long.MAX_VALUE, MILLISECONDS);

    clock.advanceBy(Duration.ofDays(36_500));

    assertThat(ran).isEmpty();
    assertThat(cancel(timeout)).isTrue();
  }

  @Test
  void tasksRunOnTheExecutor() {
    Queue<Runnable> handedOver = new ArrayDeque<>();
    ManualTimer clock = ManualTimer.create(settings -> settings.executor(handedOver::add));
    T timeout = start(on(clock), ran::add, 1, SECONDS);

    clock.advanceBy(Duration.ofSeconds(1));
    assertThat(ran).isEmpty();
    assertThat(cancel(timeout)).isFalse();
    handedOver.remove().run();

    assertThat(ran).containsExactly(timeout);
    assertThat(handedOver).isEmpty();
  }

  @Test
  void handlerReceivesTheExceptionOfATaskAndTheOtherTasksRun() {
    List<Throwable> errors = new ArrayList<>();
    List<TimerTask> failed = new ArrayList<>();
    ManualTimer clock =
        ManualTimer.create(
            settings ->
                settings.onError(
                    (timeout, error) -> {
                      failed.add(timeout.task());
                      errors.add(error);
                    }));
    M timer = on(clock);
    StackOverflowError error = new StackOverflowError();
    T thrown =
        start(
            timer,
            timeout -> {
              throw error;
            },
            1,
            SECONDS);
    T other = start(timer, ran::add, 1, SECONDS);

    clock.advanceBy(Duration.ofSeconds(1));

    assertThat(errors).containsExactly(error);
    assertThat((Object) failed.get(0)).isSameAs(thrown);
    assertThat(isExpired(thrown)).isTrue();
    assertThat(isCancelled(thrown)).isFalse();
    assertThat(cancel(thrown)).isFalse();
    assertThat(ran).containsExactly(other);
  }

  // Cancelling

  @Test
  void cancelledTimeoutNeverRunsAndIsCancelledOnce() {
    T timeout = start(timer, ran::add, 1, SECONDS);

    assertThat(cancel(timeout)).isTrue();
    assertThat(cancel(timeout)).isFalse();
    assertThat(isCancelled(timeout)).isTrue();
    clock.advanceBy(Duration.ofDays(1));

    assertThat(isExpired(timeout)).isFalse();
    assertThat(ran).isEmpty();
  }

  // Counting

  @Test
  void pendingDropsOnCancelAndBeforeTheTaskRuns() {
    List<Long> pendingInTask = new ArrayList<>();
    T first = start(timer, nothing, 1, HOURS);
    T second = start(timer, nothing, 1, HOURS);
    start(timer, timeout -> pendingInTask.add(pendingTimeouts(timer)), 1, SECONDS);
    assertThat(pendingTimeouts(timer)).isEqualTo(3);

    cancel(first);
    assertThat(pendingTimeouts(timer)).isEqualTo(2);
    cancel(second);
    clock.advanceBy(Duration.ofSeconds(1));

    assertThat(pendingInTask).containsExactly(0L);
  }

  @Test
  void cancelAndExpiryFreeAPlace() {
    ManualTimer clock = ManualTimer.create(settings -> settings.maxPendingTimeouts(2));
    M timer = on(clock);
    start(timer, nothing, 1, SECONDS);
    T second = start(timer, nothing, 2, SECONDS);
    assertRejected(timer);

    cancel(second);
    start(timer, nothing, 2, SECONDS);
    assertRejected(timer);

    clock.advanceBy(Duration.ofSeconds(1));
    start(timer, nothing, 2, SECONDS);
    assertRejected(timer);
  }

  @Test
  void overdueTimeoutsCountUntilTheNextTick() {
    ManualTimer clock = ManualTimer.create(settings -> settings.maxPendingTimeouts(8));
    M timer = on(clock);
    for (int i = 0; i < 8; i++) {
      start(timer, nothing, -1, NANOSECONDS);
    }
    assertThat(pendingTimeouts(timer)).isEqualTo(8);
    assertRejected(timer);

    clock.advanceBy(Duration.ofMillis(1));

    assertThat(pendingTimeouts(timer)).isZero();
  }

  private void assertRejected(M timer) {
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> start(timer, nothing, 1, SECONDS));
  }

  // Stopping

  @Test
  void stopReturnsNothingAfterAllHaveRun() {
    for (int i = 0; i < 3; i++) {
      start(timer, nothing, 1, MILLISECONDS);
    }
    clock.advanceBy(Duration.ofMillis(1));

    assertThat(stop(timer)).isEmpty();
  }

  @Test
  void stopCancelsAndReturnsTimeoutsThatHaveNotRun() {
    List<T> pending = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      pending.add(start(timer, ran::add, 5, SECONDS));
    }
    cancel(pending.remove(0));
    clock.advanceBy(Duration.ofSeconds(1));

    Set<T> unprocessed = stop(timer);

    assertThat(unprocessed).containsExactlyInAnyOrderElementsOf(pending);
    assertThat(unprocessed).allMatch(this::isCancelled).noneMatch(this::isExpired);
    assertThat(unprocessed).noneMatch(this::cancel);
    assertThat(pendingTimeouts(timer)).isZero();
    assertThat(stop(timer)).isEmpty();
  }

  @Test
  void stopCancelsButDoesNotReturnTimeoutsStartedOnTheWrappedTimer() {
    Timeout behind = clock.newTimeout(timeout -> {}, 1, SECONDS);
    T ours = start(timer, nothing, 1, SECONDS);

    assertThat(stop(timer)).containsExactly(ours);
    assertThat(behind.isCancelled()).isTrue();
  }

  @Test
  void stoppedTimerRefusesTimeouts() {
    stop(timer);

    assertThatIllegalStateException().isThrownBy(() -> start(timer, nothing, 1, SECONDS));
    assertThat(pendingTimeouts(timer)).isZero();
  }

  // Between the start of a timeout and the return of newTimeout

  @Test
  void timeoutIsCompleteIfItRunsBeforeStartReturns() {
    List<Boolean> seen = new ArrayList<>();
    ManualTimer[] clock = new ManualTimer[1];
    clock[0] = listening(started -> clock[0].advanceBy(Duration.ofDays(1)));

    T timeout =
        start(
            on(clock[0]),
            t -> {
              ran.add(t);
              seen.add(isExpired(t));
              seen.add(cancel(t));
            },
            1,
            SECONDS);

    assertThat(ran).containsExactly(timeout);
    assertThat(seen).containsExactly(true, false);
    assertThat(isExpired(timeout)).isTrue();
  }

  @Test
  void timeoutIsCompleteIfStoppedBeforeStartReturns() {
    List<T> stopped = new ArrayList<>();
    List<M> timer = new ArrayList<>();
    ManualTimer clock =
        listening(
            started -> {
              for (T timeout : stop(timer.get(0))) {
                assertThat(isCancelled(timeout)).isTrue();
                stopped.add(timeout);
              }
            });
    timer.add(on(clock));

    T timeout = start(timer.get(0), nothing, 1, SECONDS);

    assertThat(stopped).containsExactly(timeout);
    assertThat(isCancelled(timeout)).isTrue();
    clock.poll(); // throws the listener's exception
  }

  @Test
  void listenerThatAsksForTheStateTooEarlyGetsAnException() {
    K task = task(nothing);
    ManualTimer clock =
        listening(
            started -> {
              T timeout = timeoutOn(started);
              assertThat(taskOf(timeout)).isSameAs(task);
              assertThat(timeout).hasToString(simpleName(timeout) + "(task: " + task + ")");
              assertThatIllegalStateException().isThrownBy(() -> isExpired(timeout));
            });
    newTimeout(on(clock), task, 1, SECONDS);

    clock.poll(); // throws the listener's exception
  }

  /** Returns the library's timeout for a timeout of this library. */
  @SuppressWarnings("unchecked")
  private T timeoutOn(Timeout behind) {
    return (T) behind.task();
  }

  private static ManualTimer listening(Consumer<Timeout> started) {
    TimerListener listener =
        new TimerListener() {
          @Override
          public void started(Timeout timeout) {
            started.accept(timeout);
          }
        };
    return ManualTimer.create(settings -> settings.listener(listener));
  }

  // Arguments and texts

  @Test
  void nullIsRefused() {
    assertThatNullPointerException().isThrownBy(() -> on(null)).withMessage("timer");
    assertThatNullPointerException()
        .isThrownBy(() -> newTimeout(timer, null, 1, SECONDS))
        .withMessage("task");
    assertThatNullPointerException()
        .isThrownBy(() -> start(timer, nothing, 1, null))
        .withMessage("unit");
    assertThat(pendingTimeouts(timer)).isZero();
  }

  @Test
  void textNamesDeadlineAndTask() {
    K task = task(nothing);
    T first = newTimeout(timer, task, 1, SECONDS);
    T second = newTimeout(timer, task, 1, DAYS);
    String start = simpleName(first) + "(deadline: ";
    String end = "task: " + task + ")";
    assertThat(first).hasToString(start + "1000000000 ns from now, " + end);

    cancel(second);
    clock.advanceBy(Duration.ofSeconds(2));

    assertThat(first).hasToString(start + "-1000000000 ns from now, expired, " + end);
    assertThat(second).asString().startsWith(start).endsWith(" ns from now, cancelled, " + end);
  }

  @Test
  void textNamesTheWrappedTimer() {
    assertThat(timer).hasToString(simpleName(timer) + "(" + clock + ")");
  }

  private static String simpleName(Object object) {
    return object.getClass().getSimpleName();
  }
}
