// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.concurrent.TimeUnit.DAYS;
import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests when tasks run, and how long they wait. The tests control time and workers. */
@SuppressWarnings("FutureReturnValueIgnored")
class WheelScheduledExecutorTimeTest {
  private final HandDriven hand = new HandDriven();
  private final WheelScheduledExecutor executor = hand.executor();

  /** The times in milliseconds at which {@link #run} ran. */
  private final List<Long> ranAt = new ArrayList<>();

  private void run() {
    ranAt.add(hand.millis());
  }

  /** Returns a task whose runs take different times. */
  private Runnable taking(IntFunction<Long> millisOfRun) {
    return () -> {
      run();
      hand.clock.advance(Duration.ofMillis(millisOfRun.apply(ranAt.size())));
    };
  }

  @Test
  void timerHandsTasksOverAndRunsNone() {
    ScheduledFuture<?> task = executor.schedule(this::run, 10, MILLISECONDS);

    hand.pass(9);
    assertThat(hand.queue).isEmpty();
    hand.pass(1);
    assertThat(hand.queue).hasSize(1);
    assertThat(ranAt).isEmpty();
    assertThat(task.isDone()).isFalse();
    hand.work();

    assertThat(ranAt).containsExactly(10L);
    assertThat(task.isDone()).isTrue();
  }

  @Test
  void taskDueAtOnceDoesNotWaitForATick() {
    executor.execute(this::run);
    executor.submit(this::run);
    executor.schedule(this::run, 0, MILLISECONDS);
    executor.schedule(this::run, Long.MIN_VALUE, DAYS);
    executor.scheduleAtFixedRate(this::run, -1, 1, HOURS);

    assertThat(hand.timer.pendingTimeouts()).as("the periodic one").isOne();
    assertThat(hand.queue).hasSize(5);
    hand.work();
    assertThat(ranAt).containsOnly(0L).hasSize(5);
    assertThat(hand.timer.pendingTimeouts()).isEqualTo(1);
  }

  @Test
  void fixedRate() {
    executor.scheduleAtFixedRate(this::run, 5, 10, MILLISECONDS);
    hand.advance(40);
    assertThat(ranAt).containsExactly(5L, 15L, 25L, 35L);
  }

  @Test
  @Tag("promise-32")
  void fixedRateDoesNotDrift() {
    ScheduledFuture<?> task = executor.scheduleAtFixedRate(this::run, 10, 10, MILLISECONDS);
    for (int i = 0; i < 1_000; i++) {
      hand.pass(10);
      hand.clock.advance(MICROSECONDS.toNanos(7)); // every run is later than the one before
      hand.work();
    }
    assertThat(ranAt).hasSize(1_000);
    long elapsedNanos = hand.clock.nanoTime();
    assertThat(elapsedNanos + task.getDelay(NANOSECONDS))
        .isEqualTo(MILLISECONDS.toNanos(10 * 1_001));
  }

  @Test
  @Tag("promise-32")
  void fixedDelayCountsFromTheEndOfTheRun() {
    executor.scheduleWithFixedDelay(taking(run -> 3L), 5, 10, MILLISECONDS);
    hand.advance(40);
    assertThat(ranAt).containsExactly(5L, 5L + 13, 5L + 26, 5L + 39);
  }

  @Test
  @Tag("promise-32")
  void catchUpRunsFollowOneAfterTheOther() {
    executor.scheduleAtFixedRate(taking(run -> run == 1 ? 35L : 0L), 10, 10, MILLISECONDS);
    hand.advance(10);
    assertThat(hand.millis()).isEqualTo(45);
    hand.advance(10);
    assertThat(ranAt).containsExactly(10L, 45L, 45L, 45L, 50L);
  }

  @Test
  @Tag("promise-32")
  void missedRunsCanBeSkipped() {
    WheelScheduledExecutor skipping = hand.builder().skipMissedRuns(true).build();
    skipping.scheduleAtFixedRate(taking(run -> run == 1 ? 35L : 0L), 10, 10, MILLISECONDS);
    hand.advance(30);
    assertThat(ranAt).containsExactly(10L, 50L, 60L);
  }

  @Test
  void runDueAtTheEndOfTheLastIsNotMissed() {
    WheelScheduledExecutor skipping = hand.builder().skipMissedRuns(true).build();
    skipping.scheduleAtFixedRate(taking(run -> run == 1 ? 20L : 0L), 10, 10, MILLISECONDS);
    hand.advance(15);
    assertThat(ranAt).containsExactly(10L, 30L);
    hand.advance(5);
    assertThat(ranAt).containsExactly(10L, 30L, 40L);
  }

  @Test
  void runsMissedInAStallAreCaughtUpOrSkipped() {
    WheelScheduledExecutor skipping = hand.builder().skipMissedRuns(true).build();
    List<Long> skippedTo = new ArrayList<>();
    executor.scheduleAtFixedRate(this::run, 10, 10, MILLISECONDS);
    skipping.scheduleAtFixedRate(() -> skippedTo.add(hand.millis()), 10, 10, MILLISECONDS);
    hand.pass(95);
    hand.work();
    hand.advance(5);
    assertThat(ranAt).containsExactly(95L, 95L, 95L, 95L, 95L, 95L, 95L, 95L, 95L, 100L);
    assertThat(skippedTo).containsExactly(95L, 100L);
  }

  @Test
  void slowTaskDoesNotPileUp() {
    executor.scheduleAtFixedRate(this::run, 10, 10, MILLISECONDS);
    hand.pass(10);
    hand.pass(1_000);
    assertThat(hand.queue).hasSize(1);
    assertThat(hand.timer.pendingTimeouts()).as("stays pending").isOne();
  }

  @Test
  void manyMissedRunsDoNotOverflowTheStackOfWorkersThatRunThemInPlace() {
    WheelScheduledExecutor direct =
        WheelScheduledExecutor.builder().timer(hand.timer).executor(Runnable::run).build();
    AtomicInteger runs = new AtomicInteger();
    direct.scheduleAtFixedRate(runs::incrementAndGet, 1, 1, MILLISECONDS);
    hand.pass(100_000);
    assertThat(runs).hasValue(100_000);
    hand.pass(1);
    assertThat(runs).hasValue(100_001);
  }

  @Test
  void cancellingTakesATaskOffTheTimerAtOnce() {
    List<ScheduledFuture<?>> tasks =
        List.of(
            executor.schedule(this::run, 1, HOURS),
            executor.scheduleAtFixedRate(this::run, 1, 1, MILLISECONDS),
            executor.scheduleWithFixedDelay(this::run, 1, 1, MILLISECONDS));
    hand.advance(3);
    int runs = ranAt.size();
    assertThat(hand.timer.pendingTimeouts()).isEqualTo(3);

    tasks.forEach(task -> assertThat(task.cancel(true)).isTrue());

    assertThat(hand.timer.pendingTimeouts()).isZero();
    hand.advance(10);
    assertThat(ranAt).hasSize(runs);
    executor.shutdown();
    assertThat(executor.isTerminated()).isTrue();
  }

  @Test
  void taskThatCancelsItselfLeavesTheTimer() {
    List<ScheduledFuture<?>> self = new ArrayList<>();
    Runnable cancelling =
        () -> {
          run();
          assertThat(self.get(0).cancel(true)).isTrue();
          Thread.interrupted();
        };
    self.add(executor.scheduleAtFixedRate(cancelling, 1, 1, MILLISECONDS));
    hand.advance(5);
    assertThat(ranAt).containsExactly(1L);
    assertThat(hand.timer.pendingTimeouts()).isZero();
  }

  @Test
  void taskCancelledInTheQueueOfTheWorkersDoesNotRun() {
    ScheduledFuture<?> task = executor.schedule(this::run, 1, MILLISECONDS);
    hand.pass(1);
    assertThat(task.cancel(false)).isTrue();
    executor.shutdown();
    assertThat(executor.isTerminated()).isTrue();
    hand.work();
    assertThat(ranAt).isEmpty();
  }

  @Test
  void taskMayScheduleItselfAgain() {
    executor.schedule(this::runAndScheduleAgain, 10, MILLISECONDS);
    hand.advance(35);
    assertThat(ranAt).containsExactly(10L, 20L, 30L);
    assertThat(hand.timer.pendingTimeouts()).isEqualTo(1);
  }

  private void runAndScheduleAgain() {
    run();
    executor.schedule(this::runAndScheduleAgain, 10, MILLISECONDS);
  }

  @Test
  void delaysThatOverflowAreNever() {
    ScheduledFuture<?> once = executor.schedule(this::run, Long.MAX_VALUE, DAYS);
    ScheduledFuture<?> periodic = executor.scheduleAtFixedRate(this::run, 0, Long.MAX_VALUE, DAYS);
    ScheduledFuture<?> delayed =
        executor.scheduleWithFixedDelay(this::run, 1, Long.MAX_VALUE, NANOSECONDS);
    hand.advance(1);
    hand.pass(DAYS.toMillis(365 * 200));
    hand.work();

    assertThat(ranAt).containsExactly(1L, 1L);
    assertThat(once.getDelay(DAYS)).isGreaterThan(365 * 90);
    assertThat(once.compareTo(periodic)).isNegative();
    assertThat(periodic.getDelay(NANOSECONDS)).isEqualTo(once.getDelay(NANOSECONDS));
    assertThat(delayed.isDone()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MAX_VALUE - 5, Long.MIN_VALUE})
  void isIndependentOfClockOriginAndTimerAge(long originNanos) {
    HandDriven other = new HandDriven(originNanos);
    other.pass(12_345);
    WheelScheduledExecutor young = other.executor();
    AtomicInteger runs = new AtomicInteger();
    ScheduledFuture<?> task =
        young.scheduleAtFixedRate(runs::incrementAndGet, 10, 10, MILLISECONDS);

    assertThat(task.getDelay(NANOSECONDS)).isEqualTo(MILLISECONDS.toNanos(10));
    other.advance(9);
    assertThat(runs).hasValue(0);
    other.advance(11);
    assertThat(runs).hasValue(2);
  }

  @Test
  void delayCountsDownAndTurnsNegative() {
    ScheduledFuture<?> task = executor.schedule(this::run, 1_500, MICROSECONDS);
    assertThat(task.getDelay(NANOSECONDS)).isEqualTo(1_500_000);
    assertThat(task.getDelay(MILLISECONDS)).isEqualTo(1);
    hand.pass(2);
    assertThat(task.getDelay(MICROSECONDS)).isEqualTo(-500);
    assertThat(task.getDelay(MILLISECONDS)).isZero();
  }

  @Test
  void tasksAreOrderedByDeadlineAndThenAsTheyWereScheduled() {
    List<ScheduledFuture<?>> inOrder = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      inOrder.add(executor.schedule(this::run, i / 4, MILLISECONDS));
    }
    inOrder.add(executor.schedule(this::run, Long.MAX_VALUE, NANOSECONDS));
    inOrder.add(executor.schedule(this::run, Long.MAX_VALUE, DAYS));
    List<ScheduledFuture<?>> sorted = new ArrayList<>(inOrder);
    Collections.shuffle(sorted, new Random(1));
    Collections.sort(sorted);
    assertThat(sorted).isEqualTo(inOrder);
    for (ScheduledFuture<?> one : inOrder) {
      for (ScheduledFuture<?> other : inOrder) {
        assertThat(Integer.signum(one.compareTo(other)))
            .isEqualTo(-Integer.signum(other.compareTo(one)))
            .isEqualTo(Integer.compare(inOrder.indexOf(one), inOrder.indexOf(other)));
      }
    }
  }

  @Test
  void othersAreComparedByTheirDelay() {
    ScheduledFuture<?> task = executor.schedule(this::run, 5, MILLISECONDS);
    ScheduledFuture<?> ofAnother = hand.executor().schedule(this::run, 4, MILLISECONDS);
    assertThat(task.compareTo(ofAnother)).isPositive();
    assertThat(task.compareTo(new Fixed(5))).isZero();
    assertThat(task.compareTo(new Fixed(6))).isNegative();
    assertThat(task.compareTo(new Fixed(Long.MIN_VALUE))).isPositive();
  }

  private record Fixed(long millis) implements Delayed {
    @Override
    public long getDelay(TimeUnit unit) {
      return unit.convert(millis, MILLISECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
      return Long.compare(getDelay(NANOSECONDS), other.getDelay(NANOSECONDS));
    }
  }
}
