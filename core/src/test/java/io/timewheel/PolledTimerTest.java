// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.timewheel.testing.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the timer without a thread. A tick is one millisecond. */
class PolledTimerTest {
  private final TestClock clock = new TestClock();
  private final RecordingTask task = new RecordingTask(clock);
  private final PolledTimer timer = PolledTimer.builder().timeSource(clock).build();

  @Test
  void tasksRunInsidePollInTheOrderOfTheirTicks() {
    Timeout third = start(3_000);
    Timeout first = start(1_000);
    Timeout second = start(1_001);

    assertThat(timer.poll()).isZero();
    clock.advance(Duration.ofNanos(2_999_999));
    assertThat(timer.poll()).isEqualTo(2);
    clock.advance(Duration.ofNanos(1));
    assertThat(timer.poll()).isEqualTo(1);

    assertThat(task.ran).containsExactly(first, second, third);
    assertThat(task.threads).containsOnly(Thread.currentThread());
  }

  @Test
  void pollLeavesTheRestToTheNext() {
    for (int i = 0; i < 5; i++) {
      start(1_000);
    }
    clock.advance(Duration.ofMillis(1));

    assertThat(timer.poll(0)).isZero();
    assertThat(timer.poll(2)).isEqualTo(2);
    assertThat(timer.pendingTimeouts()).isEqualTo(3);
    assertThat(timer.nextDeadlineNanos()).isLessThanOrEqualTo(clock.nanoTime());
    assertThat(timer.poll(3)).isEqualTo(3);
    assertThat(timer.poll(3)).isZero();
  }

  @Test
  void limitMustNotBeNegative() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> timer.poll(-1))
        .withMessage("limit: -1 (expected: 0 or more)");
  }

  @Test
  void pollHandsToTheExecutorIfThereIsOne() {
    List<Runnable> queue = new ArrayList<>();
    PolledTimer handingOff = PolledTimer.builder().timeSource(clock).executor(queue::add).build();
    handingOff.newTimeout(task, 1, TimeUnit.MILLISECONDS);
    clock.advance(Duration.ofMillis(1));

    assertThat(handingOff.poll()).isEqualTo(1);

    assertThat(task.runs()).isZero();
    queue.get(0).run();
    assertThat(task.runs()).isEqualTo(1);
  }

  @Test
  void taskMayPoll() {
    List<Integer> inner = new ArrayList<>();
    timer.newTimeout(timeout -> inner.add(timer.poll(1)), 1, TimeUnit.MILLISECONDS);
    start(1_000);
    start(1_000);
    clock.advance(Duration.ofMillis(1));

    assertThat(timer.poll()).isEqualTo(2);

    assertThat(inner).containsExactly(1);
    assertThat(task.ran).hasSize(2).doesNotHaveDuplicates();
  }

  @Test
  void nextDeadlineIsTheTickOfTheEarliestTimeout() {
    start(7_500);
    Timeout earlier = start(2_001);
    assertThat(timer.nextDeadlineNanos()).isEqualTo(3_000_000);

    clock.advance(Duration.ofMillis(5));
    assertThat(timer.nextDeadlineNanos()).as("in the past if due").isEqualTo(3_000_000);
    timer.poll();
    assertThat(earlier.isExpired()).isTrue();
    assertThat(timer.nextDeadlineNanos()).isEqualTo(8_000_000);
  }

  /** Otherwise, a thread that sleeps until then sleeps until the clock has caught up. */
  @Test
  void nextDeadlineIsNotAheadAfterTheClockFellBack() {
    clock.set(100_000_000);
    timer.poll();
    clock.set(0);
    start(10_000);
    clock.set(20_000_000);

    assertThat(timer.nextDeadlineNanos()).isLessThanOrEqualTo(20_000_000);
    assertThat(timer.poll()).isOne();
  }

  @Test
  void nextDeadlineWithNothingPendingIsNever() {
    clock.advance(12);
    assertThat(timer.nextDeadlineNanos() - clock.nanoTime()).isEqualTo(Long.MAX_VALUE);

    Timeout never = timer.newTimeout(task, Long.MAX_VALUE, TimeUnit.DAYS);
    assertThat(timer.nextDeadlineNanos() - clock.nanoTime()).isEqualTo(Long.MAX_VALUE);

    never.cancel();
    start(1_000).cancel();
    assertThat(timer.nextDeadlineNanos() - clock.nanoTime()).isEqualTo(Long.MAX_VALUE);

    start(1_000);
    timer.stop();
    assertThat(timer.nextDeadlineNanos() - clock.nanoTime()).isEqualTo(Long.MAX_VALUE);
  }

  /** A cancel may leave the result too early, but a poll then corrects it. */
  @Test
  void nextDeadlineIsNeverLate() {
    Timeout first = start(70_000);
    start(90_000);
    first.cancel();
    assertThat(timer.nextDeadlineNanos()).isBetween(70_000_000L, 90_000_000L);

    clock.advance(Duration.ofMillis(70));
    assertThat(timer.poll()).isZero();
    assertThat(timer.nextDeadlineNanos()).isEqualTo(90_000_000);
  }

  /** Readings of the clock may be negative and may wrap: only their difference has a meaning. */
  @ParameterizedTest
  @ValueSource(
      longs = {
        Long.MIN_VALUE,
        -1,
        Long.MAX_VALUE - 5_000_000,
        Long.MAX_VALUE - 1_000,
        Long.MAX_VALUE
      })
  void clockMayStartAnywhere(long originNanos) {
    TestClock anywhere = new TestClock(originNanos);
    PolledTimer its = PolledTimer.builder().timeSource(anywhere).build();
    RecordingTask ran = new RecordingTask(anywhere);
    assertThat(its.nextDeadlineNanos() - anywhere.nanoTime()).isEqualTo(Long.MAX_VALUE);
    its.newTimeout(ran, 7, TimeUnit.MILLISECONDS);
    its.newTimeout(ran, Long.MAX_VALUE, TimeUnit.NANOSECONDS);

    while (ran.runs() == 0) {
      long left = its.nextDeadlineNanos() - anywhere.nanoTime();
      assertThat(left).isBetween(1L, 7_000_000L);
      anywhere.advance((left + 1) / 2);
      its.poll();
    }

    assertThat(ran.ranAtNanos.peek() - originNanos).isEqualTo(7_000_000);
    assertThat(its.pendingTimeouts()).isEqualTo(1);
  }

  @Test
  void threadsThatPollTakeTurns() {
    Polling polling = new Polling();
    Timeout other = start(1_000);
    clock.advance(Duration.ofMillis(1));
    Thread second = new Thread(timer::poll);
    second.start();
    Await.until("the second to wait", () -> second.getState() == Thread.State.WAITING);
    assertThat(other.isExpired()).isFalse();

    polling.letGo.countDown();
    Await.end(polling.thread);
    Await.end(second);
    assertThat(task.ran).containsExactly(other);
  }

  @Test
  void stopCancelsAndReturnsPendingTimeouts() {
    Timeout timeout = start(1_000);
    assertThat(timer).hasToString("PolledTimer()");

    assertThat(timer.stop()).containsExactly(timeout);

    assertThat(timer).hasToString("PolledTimer(stopped)");
    assertThat(timer.isStopped()).isTrue();
    assertThat(task.cancelled).containsExactly(timeout);
    assertThat(timer.stop()).isEmpty();
    clock.advance(Duration.ofMillis(1));
    assertThat(timer.poll()).isZero();
    assertThat(timer.pendingTimeouts()).isZero();
    assertThat(timer.stats()).isEqualTo(new TimerStats(0, 1, 0, 0, 1, 0, 0, 0, 0));
    assertThatIllegalStateException()
        .isThrownBy(() -> start(1))
        .withMessage("the timer is stopped");
    assertThatNullPointerException()
        .isThrownBy(() -> timer.stop(null))
        .withMessage("shutdownTimeout");
  }

  @Test
  void canBeExtended() {
    PolledTimer.Builder settings =
        PolledTimer.builder().timeSource(clock).tick(Duration.ofMillis(7));
    PolledTimer extended = new PolledTimer(settings) {};

    Timeout timeout = extended.newTimeout(t -> {}, 1, TimeUnit.MILLISECONDS);

    assertThat(timeout.timer()).isSameAs(extended);
    assertThat(extended.tick()).isEqualTo(Duration.ofMillis(7));
    assertThat(extended.stop()).containsExactly(timeout);
  }

  @Test
  void stopInsideATaskIsRefused() {
    List<Throwable> errors = new ArrayList<>();
    PolledTimer polled =
        PolledTimer.builder().timeSource(clock).onError((t, error) -> errors.add(error)).build();
    polled.newTimeout(timeout -> polled.stop(), 1, TimeUnit.MILLISECONDS);
    clock.advance(Duration.ofMillis(1));

    polled.poll();

    assertThat(errors)
        .extracting(Throwable::getMessage)
        .containsExactly("stop() cannot be called by a task inside poll()");
    assertThat(polled.isStopped()).isFalse();
  }

  @Test
  void stopWaitsForThePollOfAnotherThread() {
    Polling polling = new Polling();
    Thread stopping = new Thread(timer::stop);
    stopping.start();
    Await.until(
        "stop to wait for the poll", () -> stopping.getState() == Thread.State.TIMED_WAITING);
    assertThat(timer.isStopped()).isTrue();

    polling.letGo.countDown();
    Await.end(stopping);
    Await.end(polling.thread);
    assertThat(polling.interrupted).isFalse();
  }

  /** The thread that polls does not belong to the timer, so it is not interrupted. */
  @Test
  @Tag("promise-24")
  void stopWaitsAtMostItsTimeoutAndInterruptsNoThread() {
    Polling polling = new Polling();
    Timeout pending = start(1_000);

    assertThat(timer.stop(Duration.ofMillis(1))).containsExactly(pending);

    assertThat(polling.thread.isAlive()).isTrue();
    polling.letGo.countDown();
    Await.end(polling.thread);
    assertThat(polling.interrupted).isFalse();
  }

  @Test
  void interruptedStopKeepsInterruptStatusAndResult() {
    Polling polling = new Polling();
    Timeout pending = start(1_000);

    Thread.currentThread().interrupt();
    Set<Timeout> cancelled = timer.stop();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(cancelled).containsExactly(pending);
    polling.letGo.countDown();
    Await.end(polling.thread);
  }

  @Test
  void defaultTimerIsOnTheClockOfTheMachine() {
    try (PolledTimer real = PolledTimer.create()) {
      RecordingTask ran = new RecordingTask(TimeSource.system());
      real.newTimeout(ran, -1, TimeUnit.DAYS);
      Await.until("the next tick", () -> real.poll() == 1);
      assertThat(ran.runs()).isEqualTo(1);
    }
  }

  private Timeout start(long delayMicros) {
    return timer.newTimeout(task, delayMicros, TimeUnit.MICROSECONDS);
  }

  /** A thread that polls, and is blocked by a task. */
  private final class Polling {
    final CountDownLatch letGo = new CountDownLatch(1);
    final AtomicBoolean interrupted = new AtomicBoolean();
    final Thread thread = new Thread(timer::poll);

    Polling() {
      CountDownLatch running = new CountDownLatch(1);
      timer.newTimeout(
          timeout -> {
            running.countDown();
            Await.zero(letGo);
            interrupted.set(Thread.currentThread().isInterrupted());
          },
          1,
          TimeUnit.MICROSECONDS);
      clock.advance(Duration.ofMillis(1));
      thread.start();
      Await.zero(running);
      clock.advance(Duration.ofMillis(1));
    }
  }
}
