// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.timewheel.testing.Await;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The contract of a {@link ScheduledExecutorService} as in the JDK's own tests, rewritten: tasks,
 * their futures, and periodic runs.
 */
@ParameterizedClass
@EnumSource
@SuppressWarnings("FutureReturnValueIgnored")
@Tag("promise-31")
class ScheduledExecutorContractTest {
  @SuppressWarnings("UnnecessaryLambda") // a bare lambda would also match Callable
  private static final Runnable NOTHING = () -> {};

  private final ScheduledExecutorService executor;
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch mayEnd = new CountDownLatch(1);
  private final long startNanos = System.nanoTime();

  ScheduledExecutorContractTest(Implementation implementation) {
    executor = implementation.create();
  }

  @AfterEach
  void end() throws InterruptedException {
    mayEnd.countDown();
    executor.shutdownNow();
    assertThat(executor.awaitTermination(1, HOURS)).isTrue();
  }

  // One run

  @Test
  void executeRuns() {
    executor.execute(begun::countDown);
    Await.zero(begun);
  }

  @Test
  void submittedTasksHaveTheirResults() throws Exception {
    Callable<String> callable = () -> "callable";
    assertThat(executor.submit(callable).get()).isEqualTo("callable");
    assertThat(executor.submit(NOTHING, "given").get()).isEqualTo("given");
    Future<?> runnable = executor.submit(NOTHING);
    assertThat(runnable.get()).isNull();
    assertThat(runnable.isDone()).isTrue();
    assertThat(runnable.isCancelled()).isFalse();
    assertThat(runnable.cancel(true)).isFalse();
  }

  @Test
  void delayedCallableRunsAfterItsDelay() throws Exception {
    Future<Long> ranAt = executor.schedule(System::nanoTime, 20, MILLISECONDS);
    assertThat(ranAt.get() - startNanos).isGreaterThanOrEqualTo(MILLISECONDS.toNanos(20));
  }

  @Test
  void delayedRunnableRunsAfterItsDelay() throws Exception {
    AtomicLong ranAt = new AtomicLong();
    Future<?> task = executor.schedule(() -> ranAt.set(System.nanoTime()), 20, MILLISECONDS);
    assertThat(task.get()).isNull();
    assertThat(ranAt.get() - startNanos).isGreaterThanOrEqualTo(MILLISECONDS.toNanos(20));
  }

  @Test
  void delaysOfZeroAndLessAreNow() throws Exception {
    for (long delay : new long[] {0, -1, Long.MIN_VALUE}) {
      assertThat(executor.schedule(() -> "ran", delay, SECONDS).get()).isEqualTo("ran");
    }
  }

  @Test
  void exceptionOfATaskIsTheCause() {
    ArithmeticException thrown = new ArithmeticException();
    Callable<Void> callable =
        () -> {
          throw thrown;
        };
    for (Future<?> failed :
        new Future<?>[] {executor.submit(callable), executor.schedule(callable, 1, MILLISECONDS)}) {
      assertThatExceptionOfType(ExecutionException.class).isThrownBy(failed::get).withCause(thrown);
      assertThat(failed.isCancelled()).isFalse();
    }
  }

  @Test
  void taskMayScheduleAndWaitForAnother() throws Exception {
    Future<Future<String>> outer =
        executor.submit(() -> executor.schedule(() -> "inner", 1, MILLISECONDS));
    assertThat(outer.get().get()).isEqualTo("inner");
  }

  @Test
  void waitingForAResultCanBeInterrupted() {
    Future<?> task = executor.submit(() -> block());
    Thread.currentThread().interrupt();
    assertThatExceptionOfType(InterruptedException.class).isThrownBy(task::get);
  }

  @Test
  void refusesNulls() {
    assertThatNullPointerException().isThrownBy(() -> executor.execute(null));
    assertThatNullPointerException().isThrownBy(() -> executor.submit((Runnable) null));
    assertThatNullPointerException().isThrownBy(() -> executor.submit(null, "result"));
    assertThatNullPointerException().isThrownBy(() -> executor.submit((Callable<?>) null));
    assertThatNullPointerException()
        .isThrownBy(() -> executor.schedule((Runnable) null, 1, SECONDS));
    assertThatNullPointerException()
        .isThrownBy(() -> executor.schedule((Callable<?>) null, 1, SECONDS));
    assertThatNullPointerException().isThrownBy(() -> executor.schedule(NOTHING, 1, null));
    assertThatNullPointerException().isThrownBy(() -> executor.schedule(() -> "", 1, null));
    assertThatNullPointerException()
        .isThrownBy(() -> executor.scheduleAtFixedRate(null, 1, 1, SECONDS));
    assertThatNullPointerException()
        .isThrownBy(() -> executor.scheduleAtFixedRate(NOTHING, 1, 1, null));
    assertThatNullPointerException()
        .isThrownBy(() -> executor.scheduleWithFixedDelay(null, 1, 1, SECONDS));
    assertThatNullPointerException()
        .isThrownBy(() -> executor.scheduleWithFixedDelay(NOTHING, 1, 1, null));
    assertThatNullPointerException().isThrownBy(() -> executor.awaitTermination(1, null));
  }

  @Test
  void periodsOfZeroAndLessAreRefused() {
    for (long period : new long[] {0, -1, Long.MIN_VALUE}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> executor.scheduleAtFixedRate(NOTHING, 0, period, SECONDS));
      assertThatIllegalArgumentException()
          .isThrownBy(() -> executor.scheduleWithFixedDelay(NOTHING, 0, period, SECONDS));
    }
  }

  // Cancelling

  @Test
  void taskCancelledBeforeItsTimeNeverRuns() {
    AtomicBoolean ran = new AtomicBoolean();
    ScheduledFuture<?> task = executor.schedule(() -> ran.set(true), 1, HOURS);

    assertThat(task.isDone()).isFalse();
    assertThat(task.cancel(false)).isTrue();

    assertThat(task.cancel(false)).isFalse();
    assertThat(task.isCancelled()).isTrue();
    assertThat(task.isDone()).isTrue();
    assertThatExceptionOfType(CancellationException.class).isThrownBy(task::get);
    ((Runnable) task).run();
    assertThat(ran).isFalse();
  }

  @Test
  void cancelInterruptsARunIfAllowed() {
    CountDownLatch interrupted = new CountDownLatch(1);
    Future<?> task =
        executor.submit(
            () -> {
              try {
                block();
              } catch (InterruptedException e) {
                interrupted.countDown();
              }
              return null;
            });
    Await.zero(begun);

    assertThat(task.cancel(true)).isTrue();

    Await.zero(interrupted);
    assertThat(task.isCancelled()).isTrue();
  }

  @Test
  void cancelWithoutInterruptDiscardsTheResult() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    Future<?> task =
        executor.submit(
            () -> {
              block();
              ended.countDown();
              return null;
            });
    Await.zero(begun);

    assertThat(task.cancel(false)).isTrue();

    mayEnd.countDown();
    Await.zero(ended);
    assertThat(task.isCancelled()).isTrue();
  }

  // Periodic runs

  @Test
  void runsAtAFixedRateAreNotEarly() throws Exception {
    CountDownLatch runs = new CountDownLatch(5);
    ScheduledFuture<?> task = executor.scheduleAtFixedRate(runs::countDown, 2, 3, MILLISECONDS);
    Await.zero(runs);
    assertThat(System.nanoTime() - startNanos)
        .isGreaterThanOrEqualTo(MILLISECONDS.toNanos(2 + 4 * 3));
    assertThat(task.isDone()).isFalse();
    assertThat(((RunnableScheduledFuture<?>) task).isPeriodic()).isTrue();
  }

  @Test
  void runsWithAFixedDelayKeepTheirDistance() {
    CountDownLatch runs = new CountDownLatch(5);
    AtomicLong endedNanos = new AtomicLong(startNanos);
    AtomicLong shortestNanos = new AtomicLong(Long.MAX_VALUE);
    executor.scheduleWithFixedDelay(
        () -> {
          long breakNanos = System.nanoTime() - endedNanos.get();
          shortestNanos.accumulateAndGet(breakNanos, Math::min);
          runs.countDown();
          endedNanos.set(System.nanoTime());
        },
        3,
        3,
        MILLISECONDS);
    Await.zero(runs);
    assertThat(shortestNanos.get()).isGreaterThanOrEqualTo(MILLISECONDS.toNanos(3));
  }

  @Test
  @Tag("promise-32")
  void runsOfATaskNeverOverlapHoweverSlow() {
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch runs = new CountDownLatch(200);
    executor.scheduleAtFixedRate(
        () -> {
          most.accumulateAndGet(running.incrementAndGet(), Math::max);
          runs.countDown();
          running.decrementAndGet();
        },
        0,
        1,
        NANOSECONDS);
    Await.zero(runs);
    assertThat(most).hasValue(1);
  }

  @Test
  void periodicTaskThatThrowsEndsWithItsError() {
    IllegalStateException thrown = new IllegalStateException("third run");
    AtomicInteger runs = new AtomicInteger();
    ScheduledFuture<?> task =
        executor.scheduleAtFixedRate(
            () -> {
              if (runs.incrementAndGet() == 3) {
                throw thrown;
              }
            },
            0,
            1,
            MILLISECONDS);
    assertThatExceptionOfType(ExecutionException.class).isThrownBy(task::get).withCause(thrown);
    assertThat(runs).hasValue(3);
    assertThat(task.isCancelled()).isFalse();
  }

  @Test
  void periodicTaskMayCancelItself() throws Exception {
    CountDownLatch known = new CountDownLatch(1);
    AtomicInteger runs = new AtomicInteger();
    ScheduledFuture<?>[] task = new ScheduledFuture<?>[1];
    task[0] =
        executor.scheduleWithFixedDelay(
            () -> {
              Await.zero(known);
              runs.incrementAndGet();
              assertThat(task[0].cancel(false)).isTrue();
            },
            0,
            1,
            NANOSECONDS);
    known.countDown();
    assertThatExceptionOfType(CancellationException.class).isThrownBy(task[0]::get);
    executor.submit(NOTHING).get();
    executor.shutdown();
    assertThat(executor.awaitTermination(1, HOURS)).isTrue();
    assertThat(runs).hasValue(1);
  }

  @Test
  void overflowingPeriodDelaysNoOtherTask() {
    CountDownLatch inner = new CountDownLatch(2);
    executor.scheduleWithFixedDelay(
        () -> executor.execute(inner::countDown), 0, Long.MAX_VALUE, SECONDS);
    executor.scheduleAtFixedRate(
        () -> executor.execute(inner::countDown), 0, Long.MAX_VALUE, SECONDS);
    Await.zero(inner);
  }

  // Delays and order

  @Test
  void delayCountsDownInTheRequestedUnit() {
    ScheduledFuture<?> task = executor.schedule(NOTHING, 2, HOURS);
    assertThat(task.getDelay(HOURS)).isBetween(1L, 2L);
    assertThat(task.getDelay(NANOSECONDS)).isBetween(HOURS.toNanos(1), HOURS.toNanos(2));
    assertThat(((ScheduledFuture<?>) executor.submit(NOTHING)).getDelay(NANOSECONDS))
        .isLessThanOrEqualTo(0);
  }

  @Test
  void ordersByDeadline() {
    ScheduledFuture<?> early = executor.schedule(NOTHING, 1, HOURS);
    ScheduledFuture<?> late = executor.scheduleAtFixedRate(NOTHING, 2, 1, HOURS);
    ScheduledFuture<?> never = executor.schedule(NOTHING, Long.MAX_VALUE, NANOSECONDS);

    Delayed itself = early;
    assertThat(early.compareTo(itself)).isZero();
    assertThat(early.compareTo(late)).isNegative();
    assertThat(late.compareTo(early)).isPositive();
    assertThat(late.compareTo(never)).isNegative();
    assertThat(never.compareTo(early)).isPositive();
  }

  private Void block() throws InterruptedException {
    begun.countDown();
    mayEnd.await();
    return null;
  }
}
