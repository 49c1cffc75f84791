// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.testing.Await;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the races between a timer thread that is about to park, or about to start, and all other
 * threads. The timer thread reads the clock in step 3 of its loop, after it checked for work and
 * before it publishes its plan. A clock that runs an action at that moment makes the race happen in
 * every run.
 */
class WorkerRacesTest {
  private static final String OUT_OF_MEMORY =
      "WARNING: a timer is out of memory; it retries until memory is free";

  private final TestClock clock = new TestClock();
  private final RecordingTask task = new RecordingTask(clock);
  private volatile Thread worker;
  private final Map<Integer, Runnable> atReadings = new ConcurrentHashMap<>();
  private final AtomicInteger readings = new AtomicInteger();

  private final TimeSource actingClock =
      new TimeSource() {
        @Override
        public long nanoTime() {
          if (Thread.currentThread() == worker) {
            Runnable action = atReadings.remove(readings.incrementAndGet());
            if (action != null) {
              action.run();
            }
          }
          return clock.nanoTime();
        }

        @Override
        public void parkUntil(long deadlineNanos, Object blocker) {
          clock.parkUntil(deadlineNanos, blocker);
        }
      };

  @Test
  void seesATimeoutStartedBetweenLookAndPlan() {
    HierarchicalWheelTimer timer = HierarchicalWheelTimer.builder().timeSource(actingClock).build();
    idle(timer);
    long parks = clock.parks();
    atReading(2, () -> timer.newTimeout(task, 5, TimeUnit.MILLISECONDS));

    timer.newTimeout(task, 9, TimeUnit.MILLISECONDS);
    clock.awaitSleepUntil(Duration.ofMillis(5));

    assertThat(clock.parks()).isEqualTo(parks + 1);
    clock.advance(Duration.ofMillis(5));
    task.awaitRun();
    assertThat(timer.stop()).hasSize(2);
  }

  @Test
  void seesAStopBetweenLookAndPlan() {
    HierarchicalWheelTimer timer = HierarchicalWheelTimer.builder().timeSource(actingClock).build();
    idle(timer);
    long parks = clock.parks();
    Thread stopping = new Thread(timer::stop);
    atReading(
        2,
        () -> {
          stopping.start();
          Await.until(
              "stop to wait for the worker",
              () -> stopping.getState() == Thread.State.TIMED_WAITING);
        });

    timer.newTimeout(task, 9, TimeUnit.MILLISECONDS);
    Await.end(worker);
    Await.end(stopping);

    assertThat(clock.parks()).as("it did not park again").isEqualTo(parks);
    assertThat(task.cancelled).hasSize(2);
  }

  @Test
  void dropsTheHintOfACancelledTimeoutOnceItHasPassed() {
    HierarchicalWheelTimer timer = HierarchicalWheelTimer.builder().timeSource(actingClock).build();
    idle(timer);
    long wakeups = timer.stats().wakeups();
    AtomicReference<Timeout> first = new AtomicReference<>();
    atReading(1, () -> cancelOnceStarted(first));

    first.set(timer.newTimeout(task, 100, TimeUnit.MILLISECONDS));
    clock.awaitSleepUntil(Duration.ofMillis(100));
    clock.advance(Duration.ofMillis(100));
    clock.awaitSleepForever();

    assertThat(timer.stats().wakeups()).isEqualTo(wakeups + 2);
    assertThat(timer.stop()).hasSize(1);
  }

  private static void cancelOnceStarted(AtomicReference<Timeout> timeout) {
    Await.until("a start", () -> timeout.get() != null);
    assertThat(timeout.get().cancel()).isTrue();
  }

  /**
   * The timeout that woke the timer thread is cancelled before the thread checks its stripes. Later
   * timeouts with that delay do not wake it.
   */
  @Test
  @Tag("promise-27")
  void timeoutsCancelledAtOnceCauseOneWakeUp() {
    HierarchicalWheelTimer timer = HierarchicalWheelTimer.builder().timeSource(actingClock).build();
    idle(timer);
    long wakeups = timer.stats().wakeups();
    AtomicReference<Timeout> first = new AtomicReference<>();
    atReading(1, () -> cancelOnceStarted(first));

    first.set(timer.newTimeout(task, 100, TimeUnit.MILLISECONDS));
    clock.awaitSleepUntil(Duration.ofMillis(100));
    for (int i = 0; i < 50; i++) {
      clock.advance(Duration.ofMillis(1));
      assertThat(timer.newTimeout(task, 100, TimeUnit.MILLISECONDS).cancel()).isTrue();
    }
    // If any of these had woken the thread, this wake-up would not be the second.
    timer.newTimeout(task, 10, TimeUnit.MILLISECONDS);
    clock.awaitSleepUntil(Duration.ofMillis(60));
    assertThat(timer.stats().wakeups()).isEqualTo(wakeups + 2);

    clock.advance(Duration.ofMillis(10));
    task.awaitRun();
    clock.awaitSleepForever();
    assertThat(timer.stats().wakeups()).isEqualTo(wakeups + 3);
    assertThat(timer.stop()).hasSize(1);
  }

  /**
   * A poll without memory has moved nothing, so the timer thread loses no timeout and tries again.
   */
  @Test
  @Tag("promise-29")
  void lackOfMemoryDelaysTheTimerThreadButDoesNotEndIt() {
    HierarchicalWheelTimer timer = HierarchicalWheelTimer.builder().timeSource(actingClock).build();
    idle(timer);
    atReading(1, WorkerRacesTest::runOutOfMemory);
    atReading(3, WorkerRacesTest::runOutOfMemory); // the second reading is for the sleep
    try (LogCapture log = new LogCapture()) {
      timer.newTimeout(task, 5, TimeUnit.MILLISECONDS);
      clock.awaitSleepUntil(Duration.ofMillis(10));
      clock.advance(Duration.ofMillis(10));
      clock.awaitSleepUntil(Duration.ofMillis(20));
      assertThat(task.runs()).isZero();
      clock.advance(Duration.ofMillis(10));
      task.awaitRun();
      clock.awaitSleepForever();
      assertThat(log.lines()).containsExactly(OUT_OF_MEMORY);

      readings.set(0);
      atReading(1, WorkerRacesTest::runOutOfMemory);
      timer.newTimeout(task, 0, TimeUnit.NANOSECONDS);
      clock.awaitSleepUntil(Duration.ofMillis(30));
      assertThat(log.lines()).as("another lack").containsExactly(OUT_OF_MEMORY, OUT_OF_MEMORY);
    }
    assertThat(timer.stop()).as("does not wait for memory").hasSize(2);
    Await.end(worker);
  }

  private static void runOutOfMemory() {
    throw new OutOfMemoryError("for the test");
  }

  /** Both threads find that the timer thread is not running. Only one may start it. */
  @Test
  void concurrentFirstTimeoutsStartTheThreadOnce() {
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
    assertThat(timer.pendingTimeouts()).as("accepted before there is a thread").isZero();

    go.countDown();
    Await.end(first);
    Await.end(second);

    assertThat(timer.pendingTimeouts()).isEqualTo(2);
    assertThat(timer.stop()).hasSize(2);
  }

  /** The thread's {@code start} throws, as on a machine that cannot start more threads. */
  @Test
  @Tag("promise-28")
  void failedThreadStartRefusesTheTimeoutAndTheNextRetries() {
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

  /** Stops the timer before the new thread has executed its first instruction. */
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

  /** Makes the timer thread run an action at its n-th reading of the clock from now on. */
  private void atReading(int reading, Runnable action) {
    atReadings.put(reading, action);
  }

  private void idle(Timer timer) {
    timer.newTimeout(task, Long.MAX_VALUE, TimeUnit.DAYS);
    clock.awaitSleepForever();
    worker = clock.sleeper();
  }
}
