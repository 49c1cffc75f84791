// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.PassiveTimer.Kind;
import io.timewheel.testing.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests for bugs of other timers that need several threads; see {@link IncidentsTest}. */
class IncidentsWithThreadsTest {
  private static final int TICK = 10;

  /** A timeout that was cancelled as it expired was subtracted twice from the pending count. */
  @ParameterizedTest
  @EnumSource
  void netty14959PendingIsDecrementedOnce(Kind kind) {
    int limit = 16;
    PassiveTimer timer = new PassiveTimer(kind, TICK, 1, limit);
    int rounds = 300;
    for (int round = 0; round < rounds; round++) {
      List<Timeout> timeouts = new ArrayList<>();
      for (int i = 0; i < limit; i++) {
        timeouts.add(timer.start(5)); // refused if the previous round had lost a permit
      }
      assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> timer.start(5));
      timer.clock.advance(TICK);

      Concurrently.run(
          timer::poll,
          () -> {
            for (int i = limit - 1; i >= 0; i--) {
              timeouts.get(i).cancel();
            }
          });

      assertThat(timer.engine.pendingTimeouts()).isZero();
      assertThat(timeouts).allMatch(timeout -> timeout.isExpired() != timeout.isCancelled());
    }
    TimerStats stats = timer.engine.stats();
    assertThat(stats.expired() + stats.cancelled()).isEqualTo((long) rounds * limit);
    assertThat(stats.expired()).isEqualTo(timer.task.runs());
    assertThat(stats.cancelled()).isEqualTo(timer.task.cancelled.size());
  }

  /** A timeout cancelled by two threads at the same time was queued for removal twice. */
  @ParameterizedTest
  @EnumSource
  void netty2651CancelledByTwoThreadsIsCancelledByOne(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, TICK);
    List<Timeout> timeouts = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      timeouts.add(timer.start(1 + i));
    }
    Queue<Timeout> cancelled = new ConcurrentLinkedQueue<>();

    Concurrently.run(
        2,
        thread ->
            () ->
                timeouts.forEach(
                    timeout -> {
                      if (timeout.cancel()) {
                        cancelled.add(timeout);
                      }
                    }));

    assertThat(cancelled).hasSize(5_000).doesNotHaveDuplicates();
    assertThat(timer.task.cancelled).hasSize(5_000).doesNotHaveDuplicates();
    assertThat(timer.engine.pendingTimeouts()).isZero();
    assertThat(timer.engine.nextTick()).isEqualTo(Ticks.NEVER);
  }

  /** The planned wake-up belonged to a cancelled timer, so later timers caused no wake-up. */
  @Test
  void tokio6683StaleNextWakeLosesNothing() {
    TestClock clock = new TestClock();
    RecordingTask task = new RecordingTask(clock);
    try (HierarchicalWheelTimer timer =
        HierarchicalWheelTimer.builder().timeSource(clock).stripes(1).build()) {
      timer.newTimeout(task, 100, TimeUnit.MILLISECONDS);
      Timeout gone = timer.newTimeout(task, 10, TimeUnit.MILLISECONDS);
      clock.awaitSleepUntil(Duration.ofMillis(10));
      gone.cancel();
      timer.newTimeout(task, 50, TimeUnit.MILLISECONDS); // wakes nobody: 10 ms is earlier

      clock.advance(Duration.ofMillis(10));
      clock.awaitSleepUntil(Duration.ofMillis(50));
      clock.advance(Duration.ofMillis(40));
      clock.awaitSleepUntil(Duration.ofMillis(100));
      clock.advance(Duration.ofMillis(50));
      task.awaitRuns(2);
      assertThat(task.ranAtNanos).containsExactly(50_000_000L, 100_000_000L);
    }
  }

  /** A timer that was cancelled during its insertion stayed in the wheel for years. */
  @ParameterizedTest
  @EnumSource
  void tokio8252InsertAgainstCancelLeaksNothing(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, TICK, 2, 0);
    int rounds = 20_000;
    Queue<Timeout> started = new ConcurrentLinkedQueue<>();
    AtomicBoolean ended = new AtomicBoolean();

    Concurrently.run(
        () -> {
          for (int i = 0; i < rounds; i++) {
            started.add(timer.start(TimeUnit.DAYS.toNanos(1_000) + i));
          }
          ended.set(true);
        },
        () -> {
          while (!ended.get() || !started.isEmpty()) {
            Timeout timeout = started.poll();
            assertThat(timeout == null || timeout.cancel()).isTrue();
          }
        },
        () -> {
          while (!ended.get()) {
            timer.advance(TICK);
          }
        });

    assertThat(timer.engine.pendingTimeouts()).isZero();
    assertThat(timer.engine.nextTick()).isEqualTo(Ticks.NEVER);
    assertThat(timer.engine.stats().cancelled()).isEqualTo(rounds);
  }

  /**
   * A timer thread that was about to park was not woken. Each thread waits for its own timeout
   * before it starts the next. So the timer thread sleeps again and again, and one lost wake-up
   * would be the last.
   */
  @Test
  void jdk8369227NoWakeUpIsLost() {
    try (HierarchicalWheelTimer timer =
        HierarchicalWheelTimer.builder().tick(Duration.ofNanos(50_000)).build()) {
      Concurrently.run(
          3,
          thread ->
              () -> {
                for (int round = 0; round < 1_000; round++) {
                  CountDownLatch ran = new CountDownLatch(1);
                  timer.newTimeout(timeout -> ran.countDown(), 0, TimeUnit.NANOSECONDS);
                  Await.zero(ran);
                }
              });
      assertThat(timer.stats().expired()).isEqualTo(3_000);
    }
  }

  /**
   * A timer thread that was about to park was not woken for a deadline moved to an earlier time,
   * which uses another code path.
   */
  @Test
  void jdk8369227NoWakeUpIsLostByAMove() {
    try (HierarchicalWheelTimer timer =
        HierarchicalWheelTimer.builder().tick(Duration.ofNanos(50_000)).build()) {
      Concurrently.run(
          2,
          thread ->
              () -> {
                for (int round = 0; round < 1_000; round++) {
                  CountDownLatch ran = new CountDownLatch(1);
                  Timeout timeout =
                      timer.newTimeout(t -> ran.countDown(), Long.MAX_VALUE, TimeUnit.DAYS);
                  assertThat(timeout.reschedule(0, TimeUnit.NANOSECONDS)).isTrue();
                  Await.zero(ran);
                }
              });
      assertThat(timer.stats().expired()).isEqualTo(2_000);
    }
  }
}
