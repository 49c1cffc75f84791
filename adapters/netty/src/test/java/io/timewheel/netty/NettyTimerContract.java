// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static java.util.concurrent.TimeUnit.DAYS;
import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.timewheel.TimerListener;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/**
 * What Netty's users rely on, all that Netty's own tests of its timer assert included; with a time
 * that the tests move.
 */
abstract class NettyTimerContract {
  private static final TimerTask NOTHING = timeout -> {};

  private final ManualTimer clock = ManualTimer.create();
  private final Timer timer = on(clock);
  private final List<Timeout> ran = new ArrayList<>();

  /** A Netty timer on the given timer. */
  abstract Timer on(io.timewheel.Timer timer);

  abstract long pendingTimeouts(Timer timer);

  // Firing

  @Test
  void timeoutDoesNotRunBeforeItsDelay() {
    Timeout timeout = timer.newTimeout(ran::add, 10, SECONDS);

    clock.advanceBy(Duration.ofSeconds(10).minusMillis(1));

    assertThat(ran).isEmpty();
    assertThat(timeout.isExpired()).isFalse();
    assertThat(timeout.isCancelled()).isFalse();
  }

  @Test
  void timeoutRunsOnceAfterItsDelay() {
    Timeout timeout = timer.newTimeout(ran::add, 2, SECONDS);

    clock.advanceBy(Duration.ofSeconds(2));
    clock.advanceBy(Duration.ofDays(1));

    assertThat(ran).containsExactly(timeout);
    assertThat(timeout.isExpired()).isTrue();
    assertThat(timeout.isCancelled()).isFalse();
    assertThat(timeout.cancel()).isFalse();
  }

  @Test
  void timeoutKnowsItsTimerAndItsTask() {
    TimerTask task = ran::add;
    Timeout timeout = timer.newTimeout(task, 1, SECONDS);

    assertThat(timeout.timer()).isSameAs(timer);
    assertThat(timeout.task()).isSameAs(task);
  }

  @Test
  void insideItsTaskATimeoutIsExpiredAndCannotBeCancelled() {
    List<Boolean> seen = new ArrayList<>();
    timer.newTimeout(
        timeout -> {
          seen.add(timeout.isExpired());
          seen.add(timeout.cancel());
          seen.add(timeout.isCancelled());
        },
        1,
        SECONDS);

    clock.advanceBy(Duration.ofSeconds(1));

    assertThat(seen).containsExactly(true, false, false);
  }

  @Test
  void taskRestartsItselfThroughItsTimeout() {
    List<Duration> times = new ArrayList<>();
    timer.newTimeout(
        new TimerTask() {
          @Override
          public void run(Timeout timeout) {
            times.add(clock.elapsed());
            if (times.size() < 3) {
              timeout.timer().newTimeout(this, 1, SECONDS);
            }
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
    Timer timer = on(coarse);
    List<Duration> times = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      timer.newTimeout(timeout -> times.add(coarse.elapsed()), 125, MILLISECONDS);
    }

    coarse.advanceBy(Duration.ofMillis(650));

    assertThat(times).hasSize(100_000);
    assertThat(Set.copyOf(times)).containsExactly(Duration.ofMillis(200));
  }

  @Test
  void delaysOfZeroAndLessAreTheNextTick() {
    for (long delay : new long[] {0, -1, Long.MIN_VALUE}) {
      timer.newTimeout(ran::add, delay, NANOSECONDS);
    }
    assertThat(ran).isEmpty();

    clock.advanceBy(Duration.ofMillis(1));

    assertThat(ran).hasSize(3);
  }

  @Test
  void longestDelayNeverFires() {
    Timeout timeout = timer.newTimeout(ran::add, Long.MAX_VALUE, MILLISECONDS);

    clock.advanceBy(Duration.ofDays(36_500));

    assertThat(ran).isEmpty();
    assertThat(timeout.cancel()).isTrue();
  }

  @Test
  void tasksRunOnTheExecutor() {
    Queue<Runnable> handedOver = new ArrayDeque<>();
    ManualTimer clock = ManualTimer.create(settings -> settings.executor(handedOver::add));
    Timeout timeout = on(clock).newTimeout(ran::add, 1, SECONDS);

    clock.advanceBy(Duration.ofSeconds(1));
    assertThat(ran).isEmpty();
    assertThat(timeout.cancel()).isFalse();
    handedOver.remove().run();

    assertThat(ran).containsExactly(timeout);
    assertThat(handedOver).isEmpty();
  }

  @Test
  void handlerGetsWhatATaskThrows() {
    List<Throwable> errors = new ArrayList<>();
    List<io.timewheel.TimerTask> failed = new ArrayList<>();
    ManualTimer clock =
        ManualTimer.create(
            settings ->
                settings.onError(
                    (timeout, error) -> {
                      failed.add(timeout.task());
                      errors.add(error);
                    }));
    Timer timer = on(clock);
    StackOverflowError error = new StackOverflowError();
    Timeout thrown =
        timer.newTimeout(
            timeout -> {
              throw error;
            },
            1,
            SECONDS);
    Timeout other = timer.newTimeout(ran::add, 1, SECONDS);

    clock.advanceBy(Duration.ofSeconds(1));

    assertThat(errors).containsExactly(error);
    assertThat((Object) failed.get(0)).isSameAs(thrown);
    assertThat(thrown.isExpired()).isTrue();
    assertThat(thrown.isCancelled()).isFalse();
    assertThat(thrown.cancel()).isFalse();
    assertThat(ran).containsExactly(other);
  }

  // Cancelling

  @Test
  void cancelledTimeoutNeverRunsAndIsCancelledOnce() {
    Timeout timeout = timer.newTimeout(ran::add, 1, SECONDS);

    assertThat(timeout.cancel()).isTrue();
    assertThat(timeout.cancel()).isFalse();
    assertThat(timeout.isCancelled()).isTrue();
    clock.advanceBy(Duration.ofDays(1));

    assertThat(timeout.isExpired()).isFalse();
    assertThat(ran).isEmpty();
  }

  @Test
  void cancelledIsCalledWhereNettyHasIt() {
    CancelledTask task = new CancelledTask();
    Timeout timeout = timer.newTimeout(task, 1, SECONDS);
    Timeout stopped = timer.newTimeout(task, 1, SECONDS);

    timeout.cancel();
    assertThat(task.cancelled).isEqualTo(NettyVersion.is42() ? List.of(timeout) : List.of());
    timer.stop();

    assertThat(task.cancelled)
        .isEqualTo(NettyVersion.is42() ? List.of(timeout, stopped) : List.of());
  }

  private static final class CancelledTask implements TimerTask {
    final List<Timeout> cancelled = new ArrayList<>();

    @Override
    public void run(Timeout timeout) {}

    @Override
    public void cancelled(Timeout timeout) {
      cancelled.add(timeout);
    }
  }

  // Counting

  @Test
  void pendingDropsOnCancelAndBeforeTheTaskRuns() {
    List<Long> pendingInTask = new ArrayList<>();
    Timeout first = timer.newTimeout(NOTHING, 1, HOURS);
    Timeout second = timer.newTimeout(NOTHING, 1, HOURS);
    timer.newTimeout(timeout -> pendingInTask.add(pendingTimeouts(timer)), 1, SECONDS);
    assertThat(pendingTimeouts(timer)).isEqualTo(3);

    first.cancel();
    assertThat(pendingTimeouts(timer)).isEqualTo(2);
    second.cancel();
    clock.advanceBy(Duration.ofSeconds(1));

    assertThat(pendingInTask).containsExactly(0L);
  }

  @Test
  void cancelAndExpiryFreeAPlace() {
    ManualTimer clock = ManualTimer.create(settings -> settings.maxPendingTimeouts(2));
    Timer timer = on(clock);
    timer.newTimeout(NOTHING, 1, SECONDS);
    Timeout second = timer.newTimeout(NOTHING, 2, SECONDS);
    assertRejected(timer);

    second.cancel();
    timer.newTimeout(NOTHING, 2, SECONDS);
    assertRejected(timer);

    clock.advanceBy(Duration.ofSeconds(1));
    timer.newTimeout(NOTHING, 2, SECONDS);
    assertRejected(timer);
  }

  @Test
  void overdueTimeoutsCountUntilTheNextTick() {
    ManualTimer clock = ManualTimer.create(settings -> settings.maxPendingTimeouts(8));
    Timer timer = on(clock);
    for (int i = 0; i < 8; i++) {
      timer.newTimeout(NOTHING, -1, NANOSECONDS);
    }
    assertThat(pendingTimeouts(timer)).isEqualTo(8);
    assertRejected(timer);

    clock.advanceBy(Duration.ofMillis(1));

    assertThat(pendingTimeouts(timer)).isZero();
  }

  private static void assertRejected(Timer timer) {
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> timer.newTimeout(NOTHING, 1, SECONDS));
  }

  // Stopping

  @Test
  void stopReturnsNothingAfterAllHaveRun() {
    for (int i = 0; i < 3; i++) {
      timer.newTimeout(NOTHING, 1, MILLISECONDS);
    }
    clock.advanceBy(Duration.ofMillis(1));

    assertThat(timer.stop()).isEmpty();
  }

  @Test
  void stopCancelsAndReturnsWhatHasNotRun() {
    List<Timeout> pending = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      pending.add(timer.newTimeout(ran::add, 5, SECONDS));
    }
    pending.remove(0).cancel();
    clock.advanceBy(Duration.ofSeconds(1));

    Set<Timeout> unprocessed = timer.stop();

    assertThat(unprocessed).containsExactlyInAnyOrderElementsOf(pending);
    assertThat(unprocessed).allMatch(Timeout::isCancelled).noneMatch(Timeout::isExpired);
    assertThat(unprocessed).noneMatch(Timeout::cancel);
    assertThat(pendingTimeouts(timer)).isZero();
    assertThat(timer.stop()).isEmpty();
  }

  @Test
  void stopCancelsOtherTimeoutsButReturnsOnlyNettys() {
    io.timewheel.Timeout foreign = clock.newTimeout(timeout -> {}, 1, SECONDS);
    Timeout ours = timer.newTimeout(NOTHING, 1, SECONDS);

    assertThat(timer.stop()).containsExactly(ours);
    assertThat(foreign.isCancelled()).isTrue();
  }

  @Test
  void stoppedTimerRefusesTimeouts() {
    timer.stop();

    assertThatIllegalStateException().isThrownBy(() -> timer.newTimeout(ran::add, 1, SECONDS));
    assertThat(pendingTimeouts(timer)).isZero();
  }

  // Between the start of a timeout and the return of newTimeout

  @Test
  void timeoutIsCompleteIfItRunsBeforeStartReturns() {
    List<Boolean> seen = new ArrayList<>();
    ManualTimer[] clock = new ManualTimer[1];
    clock[0] =
        ManualTimer.create(
            settings -> settings.listener(started(() -> clock[0].advanceBy(Duration.ofDays(1)))));

    Timeout timeout =
        on(clock[0])
            .newTimeout(
                t -> {
                  ran.add(t);
                  seen.add(t.isExpired());
                  seen.add(t.cancel());
                },
                1,
                SECONDS);

    assertThat(ran).containsExactly(timeout);
    assertThat(seen).containsExactly(true, false);
    assertThat(timeout.isExpired()).isTrue();
  }

  @Test
  void timeoutIsCompleteIfStoppedBeforeStartReturns() {
    List<Timeout> stopped = new ArrayList<>();
    Timer[] timer = new Timer[1];
    ManualTimer clock =
        ManualTimer.create(
            settings ->
                settings.listener(
                    started(
                        () -> {
                          for (Timeout timeout : timer[0].stop()) {
                            assertThat(timeout.isCancelled()).isTrue();
                            stopped.add(timeout);
                          }
                        })));
    timer[0] = on(clock);

    Timeout timeout = timer[0].newTimeout(NOTHING, 1, SECONDS);

    assertThat(stopped).containsExactly(timeout);
    assertThat(timeout.isCancelled()).isTrue();
    clock.poll(); // throws what the listener threw
  }

  @Test
  void askingForStateTooEarlyThrows() {
    ManualTimer clock =
        ManualTimer.create(
            settings ->
                settings.listener(
                    new TimerListener() {
                      @Override
                      public void started(io.timewheel.Timeout timeout) {
                        Timeout netty = (Timeout) timeout.task();
                        assertThat(netty.task()).isSameAs(NOTHING);
                        assertThat(netty).hasToString("NettyTimeout(task: " + NOTHING + ")");
                        assertThatIllegalStateException().isThrownBy(netty::isExpired);
                      }
                    }));
    on(clock).newTimeout(NOTHING, 1, SECONDS);

    clock.poll(); // throws what the listener threw
  }

  private static TimerListener started(Runnable action) {
    return new TimerListener() {
      @Override
      public void started(io.timewheel.Timeout timeout) {
        action.run();
      }
    };
  }

  // Arguments and texts

  @Test
  void nullIsRefused() {
    assertThatNullPointerException().isThrownBy(() -> on(null)).withMessage("timer");
    assertThatNullPointerException()
        .isThrownBy(() -> timer.newTimeout(null, 1, SECONDS))
        .withMessage("task");
    assertThatNullPointerException()
        .isThrownBy(() -> timer.newTimeout(NOTHING, 1, null))
        .withMessage("unit");
    assertThat(pendingTimeouts(timer)).isZero();
  }

  @Test
  void textNamesDeadlineAndTask() {
    TimerTask task =
        new TimerTask() {
          @Override
          public void run(Timeout timeout) {}

          @Override
          public String toString() {
            return "a task";
          }
        };
    Timeout first = timer.newTimeout(task, 1, SECONDS);
    Timeout second = timer.newTimeout(task, 1, DAYS);
    assertThat(first).hasToString("NettyTimeout(deadline: 1000000000 ns from now, task: a task)");

    second.cancel();
    clock.advanceBy(Duration.ofSeconds(2));

    assertThat(first)
        .hasToString("NettyTimeout(deadline: -1000000000 ns from now, expired, task: a task)");
    assertThat(second).asString().contains(" ns from now, cancelled, task: a task)");
  }

  @Test
  void textNamesTheWrappedTimer() {
    assertThat(timer).hasToString(timer.getClass().getSimpleName() + "(" + clock + ")");
  }
}
