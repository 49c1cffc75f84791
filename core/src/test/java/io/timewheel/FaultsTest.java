// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.timewheel.PassiveTimer.Kind;
import io.timewheel.testing.Await;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests for the faults that users of other timers report, by their numbers in this project. Faults
 * that concern time are in {@link FaultsOfTimeTest}.
 */
class FaultsTest {
  private final TestClock clock = new TestClock();
  private final RecordingTask task = new RecordingTask(clock);

  @Test
  @Tag("promise-3")
  void fault1SlowTaskOnAnExecutorDelaysNoOtherTask() {
    CountDownLatch letGo = new CountDownLatch(1);
    ExecutorService executor = Executors.newCachedThreadPool();
    try (HashedWheelTimer timer = hashed().executor(executor).build()) {
      timer.newTimeout(timeout -> letGo.await(), 5, TimeUnit.MILLISECONDS);
      timer.newTimeout(task, 5, TimeUnit.MILLISECONDS);
      timer.newTimeout(task, 6, TimeUnit.MILLISECONDS);
      clock.awaitSleepUntil(Duration.ofMillis(5));
      clock.advance(Duration.ofMillis(6));
      task.awaitRuns(2);
    } finally {
      letGo.countDown();
      executor.shutdown();
    }
  }

  @Test
  void fault1ExecutorThatRejectsLosesNothing() {
    ExecutorService executor = Executors.newCachedThreadPool();
    executor.shutdown();
    try (HashedWheelTimer timer = hashed().executor(executor).build()) {
      for (int i = 0; i < 100; i++) {
        timer.newTimeout(task, 5, TimeUnit.MILLISECONDS);
      }
      clock.advance(Duration.ofMillis(5));
      task.awaitRuns(100);
      assertThat(timer.stats().rejected()).isEqualTo(100);
    }
  }

  /** With a tick of an hour, no other event can remove the cancelled timeouts. */
  @Test
  void fault2CancelledTimeoutsAreReleasedAtOnce() {
    try (HashedWheelTimer timer = hashed().tick(Duration.ofHours(1)).build()) {
      timer.newTimeout(task, 1, TimeUnit.HOURS);
      List<WeakReference<Object>> cancelled = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        cancelled.addAll(startAndCancel(timer));
      }

      assertThat(timer.pendingTimeouts()).isEqualTo(1);
      cancelled.forEach(Await::collected);
    }
  }

  /** A separate method, so no variable holds a reference. */
  private static List<WeakReference<Object>> startAndCancel(Timer timer) {
    byte[] payload = new byte[100];
    TimerTask holds = timeout -> payload[0]++;
    Timeout timeout = timer.newTimeout(holds, 1, TimeUnit.HOURS);
    assertThat(timeout.cancel()).isTrue();
    return List.of(
        new WeakReference<>(timeout), new WeakReference<>(holds), new WeakReference<>(payload));
  }

  /** While one thread's stripe is locked, another thread still starts, moves and cancels. */
  @Test
  void fault3ThreadsShareNoLockNoQueueAndNoCount() {
    PassiveTimer timer = new PassiveTimer(Kind.HIERARCHICAL, 10, 2, 0);
    CountDownLatch letGo = new CountDownLatch(1);
    PassiveTimer probe = new PassiveTimer(Kind.HIERARCHICAL, 10, 2, 0);
    Set<Stripe> probed = new HashSet<>();
    while (probed.size() < 2) {
      Concurrently.run(
          () -> {
            if (!probed.add(probe.start(5).stripe)) {
              return; // a thread of the first stripe again
            }
            WheelTimeout timeout = timer.start(5);
            if (probed.size() == 1) {
              HoldingDrain.hold(timeout.stripe, letGo);
            } else {
              assertThat(timeout.reschedule(Duration.ofNanos(50))).isTrue();
              assertThat(timeout.cancel()).isTrue();
            }
          });
    }
    letGo.countDown();
  }

  @Test
  void fault6TimeoutStartedDuringStopRunsOrIsReturnedOrIsRefused() {
    for (int round = 0; round < 100; round++) {
      RecordingTask own = new RecordingTask(TimeSource.system());
      HashedWheelTimer timer = HashedWheelTimer.builder().tick(Duration.ofNanos(100_000)).build();
      Queue<Timeout> accepted = new ConcurrentLinkedQueue<>();
      Queue<Timeout> returned = new ConcurrentLinkedQueue<>();
      Concurrently.run(
          () -> startMany(timer, own, accepted),
          () -> startMany(timer, own, accepted),
          () -> {
            Await.until("some timeouts", () -> accepted.size() > 20);
            returned.addAll(timer.stop());
          });

      List<Timeout> accountedFor = new ArrayList<>(own.ran);
      accountedFor.addAll(returned);
      assertThat(new HashSet<>(accountedFor)).hasSameSizeAs(accountedFor);
      assertThat(new HashSet<>(accountedFor)).isEqualTo(new HashSet<>(accepted));
      assertThat(new HashSet<>(own.cancelled)).isEqualTo(new HashSet<>(returned));
      assertThat(own.cancelled).hasSameSizeAs(returned);
      assertThat(timer.pendingTimeouts()).isZero();
    }
  }

  /**
   * Starts timeouts until one is refused. The number is bounded, because they might delay the
   * thread that stops.
   */
  private static void startMany(Timer timer, TimerTask task, Queue<Timeout> accepted) {
    try {
      for (int i = 0; i < 1_000; i++) {
        accepted.add(timer.newTimeout(task, i % 3, TimeUnit.MILLISECONDS));
      }
    } catch (IllegalStateException e) {
      assertThat(e).hasMessage("the timer is stopped");
    }
  }

  @Test
  void fault6StopDoesNotHangOnAStuckTask() {
    CountDownLatch running = new CountDownLatch(1);
    HashedWheelTimer timer = hashed().build();
    CountDownLatch interrupted = new CountDownLatch(1);
    timer.newTimeout(
        timeout -> {
          running.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            interrupted.countDown();
          }
        },
        5,
        TimeUnit.MILLISECONDS);
    timer.newTimeout(task, 6, TimeUnit.MILLISECONDS);
    clock.awaitSleepUntil(Duration.ofMillis(5));
    clock.advance(Duration.ofMillis(5));
    Await.zero(running);

    assertThat(timer.stop(Duration.ofMillis(1))).hasSize(1);
    Await.zero(interrupted);
  }

  @Test
  void fault6StopCountsAndReportsTheCancelledTimeouts() {
    HashedWheelTimer timer = hashed().build();
    for (int i = 0; i < 1_000; i++) {
      timer.newTimeout(task, 1 + i, TimeUnit.SECONDS);
    }

    Set<Timeout> returned = timer.stop();

    assertThat(returned).hasSize(1_000).allMatch(Timeout::isCancelled);
    assertThat(task.cancelled).containsExactlyInAnyOrderElementsOf(returned);
    assertThat(timer.pendingTimeouts()).isZero();
    assertThat(timer.stats().cancelled()).isEqualTo(1_000);
  }

  @ParameterizedTest
  @EnumSource
  @Tag("promise-17")
  void fault7PendingNeverDrifts(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, 10, 4, 1_000);
    Concurrently.run(
        3,
        thread ->
            () -> {
              for (int i = 0; i < 5_000; i++) {
                try {
                  Timeout timeout = timer.start(1 + i % 50);
                  if (i % 3 != 0) {
                    timeout.cancel();
                    timeout.cancel();
                  }
                } catch (RejectedExecutionException e) {
                  timer.engine.stats(); // full for now
                }
                timer.clock.advance(1);
              }
            });
    timer.poll();
    timer.start(5_000);
    timer.advance(1_000);
    assertThat(timer.engine.pendingTimeouts()).isEqualTo(1);

    timer.engine.afterShutDown(timer.engine.shutDown());
    for (int i = 0; i < 10; i++) {
      assertThatIllegalStateException().isThrownBy(() -> timer.start(5));
    }
    assertThat(timer.engine.pendingTimeouts()).isZero();
    TimerStats stats = timer.engine.stats();
    assertThat(stats.started()).isEqualTo(stats.expired() + stats.cancelled());
    assertThat(stats.expired()).isEqualTo(timer.task.runs());
    assertThat(stats.cancelled()).isEqualTo(timer.task.cancelled.size());
  }

  @Test
  void fault12TimerDoesNotKeepTheJvmAliveAndNeedsOneThread() {
    List<Thread> made = new ArrayList<>();
    try (HashedWheelTimer timer =
        hashed()
            .threadFactory(
                runnable -> {
                  made.add(new Thread(runnable));
                  return made.get(0);
                })
            .build()) {
      for (int i = 0; i < 100_000; i++) {
        timer.newTimeout(task, 1, TimeUnit.HOURS).cancel();
      }
    }
    assertThat(made).hasSize(1);
    Await.end(made.get(0));

    try (HashedWheelTimer timer = hashed().build()) {
      timer.newTimeout(task, 1, TimeUnit.MILLISECONDS);
      clock.awaitSleepUntil(Duration.ofMillis(1));
      assertThat(clock.sleeper().isDaemon()).isTrue();
    }
  }

  private HashedWheelTimer.Builder hashed() {
    return HashedWheelTimer.builder()
        .timeSource(clock)
        .tick(Duration.ofMillis(1))
        .ticksPerWheel(64);
  }
}
