// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.testing.Await;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests timers that are no longer reachable. References to them are in separate methods, so no
 * variable of a test holds one.
 */
@Tag("promise-28")
class AbandonedTimerTest {
  private final TestClock clock = new TestClock();
  private final AtomicReference<Thread> worker = new AtomicReference<>();
  private final AtomicReference<Timer> seen = new AtomicReference<>();
  private final CountDownLatch ran = new CountDownLatch(1);

  @Test
  void timerWithNothingPendingEndsItsThread() {
    runOneTask(TimeSource.system());

    awaitEndOfWorker();
  }

  @Test
  void timerWithATimeoutThatIsNeverDueEndsItsThread() {
    timer(clock).newTimeout(timeout -> {}, Long.MAX_VALUE, TimeUnit.DAYS);
    clock.awaitSleepForever();

    awaitEndOfWorker();
  }

  @Test
  void cancelledTimeoutsKeepTheThreadUntilTheirDeadlineAtMost() {
    assertThat(timer(clock).newTimeout(timeout -> {}, Duration.ofHours(1)).cancel()).isTrue();
    clock.advance(Duration.ofHours(1));

    awaitEndOfWorker();
  }

  @Test
  void pendingTimeoutKeepsItsTimerAndRuns() {
    timer(clock)
        .newTimeout(
            timeout -> {
              seen.set(timeout.timer());
              ran.countDown();
            },
            Duration.ofHours(1));
    clock.awaitSleepUntil(Duration.ofHours(1));
    collectGarbage();

    clock.advance(Duration.ofHours(1));
    Await.zero(ran);

    seen.get().newTimeout(timeout -> seen.set(null), Duration.ofHours(1));
    clock.awaitSleepUntil(Duration.ofHours(2));
    clock.advance(Duration.ofHours(1));
    awaitEndOfWorker();
    assertThat(seen).hasValue(null);
  }

  /**
   * The garbage collector may run at any moment between a start and the waking of the timer thread.
   */
  @Test
  void unreachableTimersRunEveryTimeout() {
    int count = 32;
    CountDownLatch all = new CountDownLatch(2 * count);
    for (int i = 0; i < count; i++) {
      startAndForget(all, i % 8 == 0);
    }
    Await.until(
        "all to run",
        () -> {
          System.gc();
          return all.getCount() == 0;
        });
  }

  private static void startAndForget(CountDownLatch all, boolean idleFirst) {
    Timer timer = HierarchicalWheelTimer.builder().stripes(1).build();
    timer.newTimeout(timeout -> all.countDown(), 0, TimeUnit.NANOSECONDS);
    if (idleFirst) {
      Await.until("the first to run", () -> timer.pendingTimeouts() == 0);
    }
    timer.newTimeout(timeout -> all.countDown(), 1, TimeUnit.MILLISECONDS);
  }

  @Test
  void handleKeepsItsTimer() {
    Timeout handle = runOneTask(clock);
    clock.awaitSleepForever();
    collectGarbage();

    AtomicInteger again = new AtomicInteger();
    handle.timer().newTimeout(timeout -> again.incrementAndGet(), Duration.ofMillis(5));
    clock.awaitSleepUntil(Duration.ofMillis(6));
    clock.advance(Duration.ofMillis(5));
    Await.until("a run", () -> again.get() == 1);
    assertThat(handle.timer().stop()).isEmpty();
    Await.end(worker.get());
  }

  /** The pin that keeps the engine for the thread must not outlive the thread. */
  @Test
  void timerThatIsStoppedBeforeItsThreadBeginsIsCollected() {
    Await.collected(new WeakReference<>(stoppedBeforeItsThreadBegins()));
  }

  private static Timer stoppedBeforeItsThreadBegins() {
    CountDownLatch begin = new CountDownLatch(1);
    AtomicReference<Thread> thread = new AtomicReference<>();
    Timer timer =
        HierarchicalWheelTimer.builder()
            .threadFactory(
                worker -> {
                  thread.set(
                      new Thread(
                          () -> {
                            Await.zero(begin);
                            worker.run();
                          }));
                  return thread.get();
                })
            .build();
    timer.newTimeout(timeout -> {}, Duration.ofHours(1));
    assertThat(timer.stop(Duration.ZERO)).hasSize(1);
    begin.countDown();
    Await.end(thread.get());
    return timer;
  }

  @Test
  void timerWhoseThreadDoesNotRunItIsCollected() {
    Await.collected(new WeakReference<>(timerWhoseThreadDoesNotRunIt()));
  }

  private static Timer timerWhoseThreadDoesNotRunIt() {
    Timer timer =
        HierarchicalWheelTimer.builder().threadFactory(worker -> new Thread(() -> {})).build();
    timer.newTimeout(timeout -> {}, Duration.ofHours(1));
    return timer;
  }

  @Test
  void timerThatWasNeverStartedIsCollected() {
    Await.collected(new WeakReference<>(HierarchicalWheelTimer.create()));
  }

  /** The thread lives as long as the timer. Inherited thread-locals would live as long. */
  @Test
  void threadInheritsNoThreadLocals() {
    InheritableThreadLocal<String> inheritable = new InheritableThreadLocal<>();
    inheritable.set("of the thread that makes the timer");
    AtomicReference<String> inherited = new AtomicReference<>("not asked yet");
    try (Timer timer = HierarchicalWheelTimer.create()) {
      timer.newTimeout(
          timeout -> {
            inherited.set(inheritable.get());
            ran.countDown();
          },
          0,
          TimeUnit.NANOSECONDS);
      Await.zero(ran);
    }
    assertThat(inherited).hasValue(null);
  }

  private Timeout runOneTask(TimeSource timeSource) {
    Timeout timeout = timer(timeSource).newTimeout(t -> ran.countDown(), 1, TimeUnit.NANOSECONDS);
    clock.advance(Duration.ofMillis(1));
    Await.zero(ran);
    return timeout;
  }

  private Timer timer(TimeSource timeSource) {
    return HierarchicalWheelTimer.builder()
        .timeSource(timeSource)
        .threadFactory(
            runnable -> {
              Thread thread = new Thread(runnable);
              thread.setDaemon(true);
              worker.set(thread);
              return thread;
            })
        .build();
  }

  private static void collectGarbage() {
    Await.collected(new WeakReference<>(new Object()));
  }

  private void awaitEndOfWorker() {
    Await.until(
        "the end of " + worker,
        () -> {
          System.gc();
          return !worker.get().isAlive();
        });
  }
}
