// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the handle: its states, its text, and the run of a task that was handed to an executor. */
class WheelTimeoutTest {
  private final TestClock clock = new TestClock();
  private final RecordingTask task = new RecordingTask(clock);
  private final PolledTimer timer = timer().build();

  @Test
  void returnsItsTimerAndItsTask() {
    Timeout timeout = timer.newTimeout(task, 5, TimeUnit.NANOSECONDS);

    assertThat(timeout.timer()).isSameAs(timer);
    assertThat(timeout.task()).isSameAs(task);
  }

  @Test
  void isPendingThenExpired() {
    Timeout timeout = timer.newTimeout(task, 5, TimeUnit.NANOSECONDS);
    assertThat(timeout.isExpired()).isFalse();
    assertThat(timeout.isCancelled()).isFalse();

    clock.advance(5);
    timer.poll();

    assertThat(timeout.isExpired()).isTrue();
    assertThat(timeout.isCancelled()).isFalse();
    assertThat(timeout.cancel()).isFalse();
    assertThat(timeout.reschedule(1, TimeUnit.SECONDS)).isFalse();
    assertThat(task.cancelled).isEmpty();
  }

  @Test
  void isPendingThenCancelled() {
    Timeout timeout = timer.newTimeout(task, 5, TimeUnit.NANOSECONDS);

    assertThat(timeout.cancel()).isTrue();

    assertThat(timeout.isCancelled()).isTrue();
    assertThat(timeout.isExpired()).isFalse();
    assertThat(timeout.cancel()).isFalse();
    assertThat(timeout.reschedule(Duration.ofSeconds(1))).isFalse();
    assertThat(task.cancelled).containsExactly(timeout);
    assertThat(task.threads).containsExactly(Thread.currentThread());
  }

  @Test
  void isExpiredAndNotCancellableInsideItsTask() {
    Timeout[] seen = new Timeout[1];
    timer.newTimeout(
        timeout -> {
          assertThat(timeout.isExpired()).isTrue();
          assertThat(timeout.cancel()).isFalse();
          assertThat(timer.pendingTimeouts()).isZero();
          seen[0] = timeout;
        },
        5,
        TimeUnit.NANOSECONDS);

    clock.advance(5);
    timer.poll();

    assertThat(seen[0].isExpired()).isTrue();
    assertThat(timer.stats().failed()).isZero();
  }

  @Test
  void movesItsDeadlineLaterAndEarlier() {
    Timeout timeout = timer.newTimeout(task, 5, TimeUnit.NANOSECONDS);

    assertThat(timeout.reschedule(9, TimeUnit.NANOSECONDS)).isTrue();
    clock.advance(8);
    assertThat(timer.poll()).isZero();
    assertThat(timeout.reschedule(Duration.ofHours(1))).isTrue();
    assertThat(timeout.reschedule(Duration.ofNanos(2))).isTrue();
    clock.advance(1);
    assertThat(timer.poll()).isZero();
    clock.advance(1);
    assertThat(timer.poll()).isEqualTo(1);

    assertThat(task.ranAtNanos).containsExactly(10L);
    assertThat(timer.stats().rescheduled()).isEqualTo(3);
  }

  @Test
  void returnsTheRemainingTime() {
    Timeout timeout = timer.newTimeout(task, Duration.ofMillis(1_500));

    assertThat(timeout.remaining(TimeUnit.MILLISECONDS)).isEqualTo(1_500);
    assertThat(timeout.remaining(TimeUnit.SECONDS)).as("rounded toward zero").isEqualTo(1);

    clock.advance(Duration.ofSeconds(3));
    assertThat(timeout.remaining(TimeUnit.MILLISECONDS)).isEqualTo(-1_500);
    assertThat(timeout.remaining(TimeUnit.SECONDS)).as("rounded toward zero").isEqualTo(-1);
  }

  @Test
  void exceptionNamesTheNullArgument() {
    Timeout timeout = timer.newTimeout(task, 1, TimeUnit.SECONDS);

    assertThatNullPointerException()
        .isThrownBy(() -> timeout.reschedule(1, null))
        .withMessage("unit");
    assertThatNullPointerException()
        .isThrownBy(() -> timeout.reschedule(null))
        .withMessage("delay");
    assertThatNullPointerException().isThrownBy(() -> timeout.remaining(null)).withMessage("unit");
  }

  @Test
  void textContainsDeadlineAndState() {
    Timeout timeout = timer.newTimeout(task, 5, TimeUnit.NANOSECONDS);
    Timeout cancelled = timer.newTimeout(task, 9, TimeUnit.NANOSECONDS);
    cancelled.cancel();

    assertThat(timeout).hasToString("Timeout(deadline: in 5 ns, task: recording)");
    assertThat(cancelled).hasToString("Timeout(deadline: in 9 ns, cancelled, task: recording)");

    clock.advance(5);
    assertThat(timeout).hasToString("Timeout(deadline: now, task: recording)");

    timer.poll();
    clock.advance(2);
    assertThat(timeout).hasToString("Timeout(deadline: 2 ns ago, expired, task: recording)");
  }

  @Test
  void runOfAPendingTimeoutDoesNothing() {
    Timeout timeout = timer.newTimeout(task, 5, TimeUnit.NANOSECONDS);

    ((Runnable) timeout).run();

    assertThat(task.runs()).isZero();
    assertThat(timeout.isExpired()).isFalse();
    assertThat(timer.pendingTimeouts()).isEqualTo(1);
  }

  @Test
  void runOfACancelledTimeoutDoesNothing() {
    Timeout timeout = timer.newTimeout(task, 5, TimeUnit.NANOSECONDS);
    timeout.cancel();

    ((Runnable) timeout).run();

    assertThat(task.runs()).isZero();
  }

  @Test
  void runOfATimeoutThatTheTimerRanItselfDoesNothing() {
    Timeout timeout = timer.newTimeout(task, 5, TimeUnit.NANOSECONDS);
    clock.advance(5);
    timer.poll();

    ((Runnable) timeout).run();

    assertThat(task.runs()).isEqualTo(1);
  }

  @Test
  void handedOffTimeoutIsExpiredBeforeItRunsAndRunsOnce() {
    Deque<Runnable> handedOff = new ArrayDeque<>();
    PolledTimer handingOff = timer().executor(handedOff::add).build();
    Timeout timeout = handingOff.newTimeout(task, 5, TimeUnit.NANOSECONDS);
    clock.advance(5);
    handingOff.poll();

    assertThat(timeout.isExpired()).isTrue();
    assertThat(timeout.cancel()).isFalse();
    assertThat(task.runs()).isZero();

    Runnable execution = handedOff.remove();
    execution.run();
    execution.run();
    assertThat(task.ran).containsExactly(timeout);
    assertThat(timeout.isExpired()).isTrue();
  }

  @Test
  void handedOffTimeoutRunsOnceForTwoThreads() {
    Deque<Runnable> handedOff = new ArrayDeque<>();
    PolledTimer handingOff = timer().executor(handedOff::add).build();
    for (int i = 0; i < 500; i++) {
      handingOff.newTimeout(task, 5, TimeUnit.NANOSECONDS);
    }
    clock.advance(5);
    handingOff.poll();

    Concurrently.run(2, thread -> () -> handedOff.forEach(Runnable::run));

    assertThat(task.ran).hasSize(500).doesNotHaveDuplicates();
  }

  private PolledTimer.Builder timer() {
    return PolledTimer.builder().timeSource(clock).tick(Duration.ofNanos(1));
  }
}
