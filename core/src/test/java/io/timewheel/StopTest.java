// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.timewheel.testing.Await;
import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests how a timer with a thread stops or fails. */
class StopTest {
  private final TestClock clock = new TestClock();
  private final RecordingTask task = new RecordingTask(clock);
  private Thread thread;
  private final HashedWheelTimer timer =
      HashedWheelTimer.builder()
          .timeSource(clock)
          .tick(Duration.ofMillis(1))
          .name("a timer")
          .threadFactory(runnable -> thread = new Thread(runnable))
          .build();

  @Test
  @Tag("promise-26")
  void stopReturnsPendingTimeoutsAndEndsTheThread() {
    Timeout near = start();
    Timeout far = timer.newTimeout(task, Long.MAX_VALUE, TimeUnit.DAYS);

    assertThat(timer.stop()).containsExactlyInAnyOrder(near, far);

    assertThat(timer.isStopped()).isTrue();
    assertThat(timer).hasToString("HashedWheelTimer(a timer, stopped)");
    assertThat(timer.pendingTimeouts()).isZero();
    assertThat(timer.stats().cancelled()).isEqualTo(2);
    assertThat(near.isCancelled()).isTrue();
    assertThat(task.cancelled).containsExactlyInAnyOrder(near, far);
    assertThat(task.threads).containsOnly(Thread.currentThread());
    Await.end(thread);
  }

  @Test
  void stoppedTimerRefusesTimeoutsAndFurtherStopsReturnNothing() {
    start();
    timer.stop();

    assertThatIllegalStateException().isThrownBy(this::start).withMessage("the timer is stopped");
    assertThat(timer.stop()).isEmpty();
    assertThat(timer.stop(Duration.ofSeconds(1))).isEmpty();
    timer.close();
    assertThat(timer.pendingTimeouts()).isZero();
  }

  @Test
  void unusedTimerStopsWithoutStartingItsThread() {
    assertThat(stopWithoutTimeLimit()).isEmpty();

    assertThatIllegalStateException().isThrownBy(this::start);
    assertThat(thread.getState()).isEqualTo(Thread.State.NEW);
  }

  @Test
  void stopWakesASleepingTimerThread() {
    Timeout timeout = start();
    clock.awaitSleepUntil(Duration.ofHours(1));

    assertThat(stopWithoutTimeLimit()).containsExactly(timeout);

    Await.end(thread);
  }

  /** Otherwise, a shutdown timeout that elapses would hide a wait that never ends. */
  private Set<Timeout> stopWithoutTimeLimit() {
    Queue<Timeout> cancelled = new ConcurrentLinkedQueue<>();
    Concurrently.run(() -> cancelled.addAll(timer.stop(Duration.ofSeconds(Long.MAX_VALUE))));
    return Set.copyOf(cancelled);
  }

  @Test
  void closeStops() {
    Timeout timeout = start();

    timer.close();

    assertThat(timer.isStopped()).isTrue();
    assertThat(timeout.isCancelled()).isTrue();
    Await.end(thread);
  }

  @Test
  void stopWaitsForTheTaskThatRuns() {
    StuckTask stuck = new StuckTask();
    run(stuck);
    Thread stopping = new Thread(() -> timer.stop(Duration.ofDays(1)));
    stopping.start();
    Await.until(
        "stop to wait for the task", () -> stopping.getState() == Thread.State.TIMED_WAITING);

    stuck.letGo.countDown();
    Await.end(stopping);

    assertThat(stuck.ended.getCount()).as("tasks still running").isZero();
    assertThat(stuck.interrupts).hasValue(0);
    Await.end(thread);
  }

  @Test
  @Tag("promise-24")
  void stopInterruptsAStuckTaskOnceAndReturns() {
    for (Duration shutdownTimeout : new Duration[] {Duration.ofMillis(1), Duration.ZERO}) {
      StopTest other = new StopTest();
      StuckTask stuck = new StuckTask();
      other.run(stuck);
      Timeout pending = other.start();

      assertThat(other.timer.stop(shutdownTimeout)).containsExactly(pending);

      Await.zero(stuck.interrupted);
      assertThat(stuck.ended.getCount()).as("tasks still running").isEqualTo(1);
      stuck.letGo.countDown();
      Await.end(other.thread);
      assertThat(stuck.interrupts).hasValue(1);
    }
  }

  @Test
  void shutdownTimeoutMayBeNegativeOrUnlimited() {
    assertThat(startedTimerStops(Duration.ofSeconds(-1))).isEqualTo(1);
    assertThat(startedTimerStops(Duration.ofSeconds(Long.MIN_VALUE))).isEqualTo(1);
    assertThat(startedTimerStops(Duration.ofSeconds(Long.MAX_VALUE))).isEqualTo(1);
    assertThatNullPointerException()
        .isThrownBy(() -> timer.stop(null))
        .withMessage("shutdownTimeout");
  }

  private static int startedTimerStops(Duration shutdownTimeout) {
    StopTest other = new StopTest();
    other.start();
    int cancelled = other.timer.stop(shutdownTimeout).size();
    Await.end(other.thread);
    return cancelled;
  }

  @Test
  void interruptedCallerKeepsInterruptStatusAndResult() {
    StuckTask stuck = new StuckTask();
    run(stuck);
    Timeout pending = start();

    Thread.currentThread().interrupt();
    Set<Timeout> cancelled = timer.stop();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(cancelled).containsExactly(pending);
    stuck.letGo.countDown();
    Await.end(thread);
  }

  @Test
  void stopInsideATaskIsRefused() {
    Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();
    CountDownLatch ran = new CountDownLatch(1);
    run(
        timeout -> {
          try {
            timer.stop();
          } catch (IllegalStateException e) {
            thrown.add(e);
          } finally {
            ran.countDown();
          }
        });
    Await.zero(ran);

    assertThat(thrown)
        .extracting(Throwable::getMessage)
        .containsExactly(
            "stop() cannot be called by a task on the timer thread; call it from another thread");
    assertThat(timer.isStopped()).isFalse();
    timer.stop();
  }

  @Test
  @Tag("promise-23")
  void concurrentStopsReturnEachTimeoutOnce() {
    for (int i = 0; i < 100; i++) {
      start();
    }
    Queue<Set<Timeout>> answers = new ConcurrentLinkedQueue<>();

    Concurrently.run(4, caller -> () -> answers.add(timer.stop()));

    assertThat(answers).hasSize(4);
    assertThat(answers).flatExtracting(answer -> answer).hasSize(100).doesNotHaveDuplicates();
    assertThat(task.cancelled).hasSize(100);
    Await.end(thread);
  }

  /** If a timer thread dies, no timeout is lost silently. */
  @Test
  @Tag("promise-29")
  void deadTimerThreadFailsTheTimerAndIsLogged() {
    Timeout far = timer.newTimeout(task, Long.MAX_VALUE, TimeUnit.DAYS);
    clock.awaitSleepForever();
    RuntimeException cause = new IllegalStateException("the clock is broken");
    clock.failToPark(cause);
    try (LogCapture log = new LogCapture()) {
      Timeout near = start(); // wakes the timer thread, which tries to park again

      Await.end(thread);

      assertThat(log.lines())
          .containsExactly("SEVERE: a timer thread has died; the timer runs no more tasks");
      assertThat(log.thrown()).containsExactly(cause);
      assertThatExceptionOfType(IllegalStateException.class)
          .isThrownBy(this::start)
          .withMessage("the timer has failed and runs no more tasks")
          .withCause(cause);
      assertThat(timer.isStopped()).isFalse();
      assertThat(timer.pendingTimeouts()).isEqualTo(2);
      assertThat(timer.stop()).containsExactlyInAnyOrder(near, far);
      assertThat(task.cancelled).containsExactlyInAnyOrder(near, far);
      assertThat(timer.pendingTimeouts()).isZero();
    }
  }

  private Timeout start() {
    return timer.newTimeout(task, 1, TimeUnit.HOURS);
  }

  /** Returns when the task is running, or has run. */
  private void run(TimerTask toRun) {
    CountDownLatch running = new CountDownLatch(1);
    timer.newTimeout(
        timeout -> {
          running.countDown();
          toRun.run(timeout);
        },
        1,
        TimeUnit.MILLISECONDS);
    clock.awaitSleepUntil(Duration.ofMillis(1));
    clock.advance(Duration.ofMillis(1));
    Await.zero(running);
  }

  /** A task that ignores interrupts but counts them. */
  private static final class StuckTask implements TimerTask {
    final CountDownLatch letGo = new CountDownLatch(1);
    final CountDownLatch interrupted = new CountDownLatch(1);
    final CountDownLatch ended = new CountDownLatch(1);
    final AtomicInteger interrupts = new AtomicInteger();

    @Override
    public void run(Timeout timeout) {
      while (true) {
        try {
          letGo.await();
          ended.countDown();
          return;
        } catch (InterruptedException e) {
          interrupts.incrementAndGet();
          interrupted.countDown();
        }
      }
    }
  }
}
