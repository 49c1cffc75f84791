// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * The narrow places between a worker that is about to park, or about to start, and everybody else.
 * The worker asks for the time in step 3 of its loop, after it looked for something to do and
 * before it publishes its plan: a clock that acts at that moment is a race that always happens.
 */
class WorkerRacesTest {
  private final TestClock clock = new TestClock();
  private final RecordingTask task = new RecordingTask(clock);
  private volatile Thread worker;
  private volatile Runnable atSecondReading;
  private final AtomicInteger readings = new AtomicInteger();

  private final TimeSource actingClock =
      new TimeSource() {
        @Override
        public long nanoTime() {
          Runnable action = atSecondReading;
          boolean acts =
              action != null && Thread.currentThread() == worker && readings.incrementAndGet() == 2;
          if (acts) {
            action.run();
          }
          return clock.nanoTime();
        }

        @Override
        public void parkUntil(long deadlineNanos, Object blocker) {
          clock.parkUntil(deadlineNanos, blocker);
        }
      };

  @Test
  void timeoutThatIsStartedBetweenTheLookAndThePlanIsSeen() {
    HierarchicalWheelTimer timer = HierarchicalWheelTimer.builder().timeSource(actingClock).build();
    idle(timer);
    long parks = clock.parks();
    atSecondReading = () -> timer.newTimeout(task, 5, TimeUnit.MILLISECONDS);

    timer.newTimeout(task, 9, TimeUnit.MILLISECONDS);
    clock.awaitSleepUntil(Duration.ofMillis(5));

    assertThat(clock.parks()).isEqualTo(parks + 1);
    clock.advance(Duration.ofMillis(5));
    task.awaitRun();
    assertThat(timer.stop()).hasSize(2);
  }

  @Test
  void stopBetweenTheLookAndThePlanIsSeen() {
    HierarchicalWheelTimer timer = HierarchicalWheelTimer.builder().timeSource(actingClock).build();
    idle(timer);
    long parks = clock.parks();
    Thread stopping = new Thread(timer::stop);
    atSecondReading =
        () -> {
          stopping.start();
          Await.until(
              "stop to wait for the worker",
              () -> stopping.getState() == Thread.State.TIMED_WAITING);
        };

    timer.newTimeout(task, 9, TimeUnit.MILLISECONDS);
    Await.end(worker);
    Await.end(stopping);

    assertThat(clock.parks()).as("it did not park again").isEqualTo(parks);
    assertThat(task.cancelled).hasSize(2);
  }

  /** Both find the worker not running; only one may start it. */
  @Test
  void workerIsStartedOnceByThoseWhoStartTheFirstTimeouts() {
    CountDownLatch starting = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    HierarchicalWheelTimer timer =
        HierarchicalWheelTimer.builder()
            .timeSource(clock)
            .threadFactory(
                runnable ->
                    new Thread(runnable) {
                      @Override
                      public synchronized void start() {
                        starting.countDown();
                        Await.zero(go);
                        super.start();
                      }
                    })
            .build();
    Thread first = new Thread(() -> timer.newTimeout(task, 1, TimeUnit.MILLISECONDS));
    Thread second = new Thread(() -> timer.newTimeout(task, 1, TimeUnit.MILLISECONDS));
    first.start();
    Await.zero(starting);
    second.start();
    Await.until("the second to wait", () -> second.getState() == Thread.State.BLOCKED);
    assertThat(timer.pendingTimeouts()).as("accepted before there is a worker").isZero();

    go.countDown();
    Await.end(first);
    Await.end(second);

    assertThat(timer.pendingTimeouts()).isEqualTo(2);
    assertThat(timer.stop()).hasSize(2);
  }

  /** As when the machine has no thread left to give. */
  @Test
  void timeoutIsRefusedIfTheWorkerCannotBeStartedAndTheNextOneTriesAgain() {
    AtomicInteger starts = new AtomicInteger();
    HierarchicalWheelTimer timer =
        HierarchicalWheelTimer.builder()
            .timeSource(clock)
            .threadFactory(
                runnable ->
                    new Thread(runnable) {
                      @Override
                      public synchronized void start() {
                        if (starts.incrementAndGet() == 1) {
                          throw new OutOfMemoryError("no thread to give");
                        }
                        super.start();
                      }
                    })
            .build();

    assertThatExceptionOfType(OutOfMemoryError.class)
        .isThrownBy(() -> timer.newTimeout(task, 1, TimeUnit.MILLISECONDS));
    assertThat(timer.pendingTimeouts()).isZero();

    timer.newTimeout(task, 1, TimeUnit.MILLISECONDS);
    clock.awaitSleepUntil(Duration.ofMillis(1));
    assertThat(timer.stop()).hasSize(1);
  }

  /** Stopped before the new thread has come to its first instruction. */
  @Test
  void stopDoesNotWaitForAThreadThatHasNotBegun() {
    CountDownLatch begin = new CountDownLatch(1);
    Thread[] made = new Thread[1];
    HierarchicalWheelTimer timer =
        HierarchicalWheelTimer.builder()
            .timeSource(clock)
            .threadFactory(
                runnable ->
                    made[0] =
                        new Thread(
                            () -> {
                              Await.zero(begin);
                              runnable.run();
                            }))
            .build();
    timer.newTimeout(task, 1, TimeUnit.MILLISECONDS);

    assertThat(timer.stop(Duration.ZERO)).hasSize(1);

    begin.countDown();
    Await.end(made[0]);
    assertThat(clock.parks()).isZero();
    assertThat(task.runs()).isZero();
  }

  private void idle(Timer timer) {
    timer.newTimeout(task, Long.MAX_VALUE, TimeUnit.DAYS);
    clock.awaitSleepForEver();
    worker = clock.sleeper();
  }
}
