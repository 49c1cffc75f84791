// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.timewheel.testing.Await;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The shutdown of a {@link ScheduledExecutorService}, as in the JDK's own tests. */
@ParameterizedClass
@EnumSource
@SuppressWarnings("FutureReturnValueIgnored")
@Tag("promise-31")
class ScheduledExecutorShutdownTest {
  @SuppressWarnings("UnnecessaryLambda") // a bare lambda would also match Callable
  private static final Runnable NOTHING = () -> {};

  @Parameter Implementation implementation;

  private final List<ScheduledExecutorService> made = new ArrayList<>();
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch mayEnd = new CountDownLatch(1);
  private final AtomicInteger interrupts = new AtomicInteger();

  private ScheduledExecutorService create() {
    return create(false, true);
  }

  private ScheduledExecutorService create(boolean keepsPeriodic, boolean keepsDelayed) {
    ScheduledExecutorService executor = implementation.create(keepsPeriodic, keepsDelayed);
    made.add(executor);
    return executor;
  }

  @AfterEach
  void end() {
    mayEnd.countDown();
    for (ScheduledExecutorService executor : made) {
      executor.shutdownNow();
      assertTerminates(executor);
    }
  }

  @Test
  void terminatesAtOnceWhenIdle() {
    ScheduledExecutorService executor = create();
    assertThat(executor.isShutdown()).isFalse();
    assertThat(executor.isTerminated()).isFalse();

    executor.shutdown();

    assertThat(executor.isShutdown()).isTrue();
    assertTerminates(executor);
    executor.shutdown();
    assertThat(executor.shutdownNow()).isEmpty();
    assertThat(executor.isTerminated()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void rejectsAfterShutdownAndTerminatesWhenIdle(boolean now) throws InterruptedException {
    ScheduledExecutorService executor = create();
    executor.execute(this::blockUninterruptibly);
    Await.zero(begun);

    if (now) {
      executor.shutdownNow();
    } else {
      executor.shutdown();
    }

    assertAllRejected(executor);
    assertThat(executor.isTerminated()).isFalse();
    assertThat(executor.awaitTermination(1, MILLISECONDS)).isFalse();
    assertThat(executor.awaitTermination(-1, SECONDS)).isFalse();
    mayEnd.countDown();
    assertTerminates(executor);
    assertAllRejected(executor);
  }

  private static void assertAllRejected(ScheduledExecutorService executor) {
    List<ThrowingCallable> submissions =
        List.of(
            () -> executor.execute(NOTHING),
            () -> executor.submit(NOTHING),
            () -> executor.submit(NOTHING, ""),
            () -> executor.submit(() -> ""),
            () -> executor.schedule(NOTHING, 1, SECONDS),
            () -> executor.schedule(() -> "", 1, SECONDS),
            () -> executor.scheduleAtFixedRate(NOTHING, 1, 1, SECONDS),
            () -> executor.scheduleWithFixedDelay(NOTHING, 1, 1, SECONDS),
            () -> executor.invokeAll(List.of(() -> "")),
            () -> executor.invokeAny(List.of(() -> "")));
    for (ThrowingCallable submission : submissions) {
      assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(submission);
    }
  }

  @Test
  void awaitTerminationCanBeInterrupted() {
    ScheduledExecutorService executor = create();
    executor.schedule(NOTHING, 1, HOURS);
    executor.shutdown();
    Thread.currentThread().interrupt();
    assertThatExceptionOfType(InterruptedException.class)
        .isThrownBy(() -> executor.awaitTermination(1, HOURS));
  }

  @ParameterizedTest
  @CsvSource({"false, false", "false, true", "true, false", "true, true"})
  void shutdownFollowsThePolicies(boolean keepsPeriodic, boolean keepsDelayed) {
    ScheduledExecutorService executor = create(keepsPeriodic, keepsDelayed);
    Future<?> delayed = executor.schedule(NOTHING, 1, HOURS);
    List<Future<?>> periodic =
        List.of(
            executor.scheduleAtFixedRate(NOTHING, 1, 1, HOURS),
            executor.scheduleWithFixedDelay(NOTHING, 1, 1, HOURS));

    executor.shutdown();

    assertThat(delayed.isCancelled()).isEqualTo(!keepsDelayed);
    assertThat(periodic)
        .allSatisfy(task -> assertThat(task.isCancelled()).isEqualTo(!keepsPeriodic));
    if (keepsPeriodic || keepsDelayed) {
      assertThat(executor.isTerminated()).isFalse();
    }
    delayed.cancel(false);
    periodic.forEach(task -> task.cancel(false));
    assertTerminates(executor);
  }

  @Test
  void keptTasksRun() throws Exception {
    ScheduledExecutorService executor = create();
    Future<String> delayed = executor.schedule(() -> "ran", 10, MILLISECONDS);
    executor.shutdown();
    assertThat(delayed.get()).isEqualTo("ran");
    assertTerminates(executor);
  }

  @Test
  void keptPeriodicTasksContinueUntilTheyThrow() {
    ScheduledExecutorService executor = create(true, true);
    CountDownLatch isShutDown = new CountDownLatch(1);
    AtomicInteger runs = new AtomicInteger();
    Future<?> task =
        executor.scheduleAtFixedRate(
            () -> {
              Await.zero(isShutDown);
              if (runs.incrementAndGet() == 4) {
                throw new IllegalStateException("enough");
              }
            },
            0,
            1,
            MILLISECONDS);
    executor.shutdown();
    isShutDown.countDown();
    assertTerminates(executor);
    assertThat(runs).hasValue(4);
    assertThat(task.isDone()).isTrue();
  }

  @Test
  void runningPeriodicTaskIsCancelledAfterItsRun() {
    ScheduledExecutorService executor = create();
    AtomicInteger runs = new AtomicInteger();
    ScheduledFuture<?> task =
        executor.scheduleAtFixedRate(
            () -> {
              blockUninterruptibly();
              runs.incrementAndGet();
            },
            0,
            1,
            NANOSECONDS);
    Await.zero(begun);

    executor.shutdown();

    assertThat(task.isDone()).isFalse();
    mayEnd.countDown();
    assertTerminates(executor);
    assertThat(task.isCancelled()).isTrue();
    assertThat(runs).hasValue(1);
    assertThat(interrupts).hasValue(0);
  }

  @Test
  void runsDueTasksAfterShutdownUnderAnyPolicy() throws Exception {
    ScheduledExecutorService executor = create(false, false);
    List<Future<?>> blockers = new ArrayList<>();
    for (int i = 0; i < Implementation.THREADS; i++) {
      blockers.add(executor.submit(this::blockUninterruptibly));
    }
    Future<String> behind = executor.submit(() -> "ran");

    executor.shutdown();

    mayEnd.countDown();
    assertThat(behind.get()).isEqualTo("ran");
    assertTerminates(executor);
    assertThat(blockers).allMatch(Future::isDone).noneMatch(Future::isCancelled);
  }

  @Test
  void shutdownNowReturnsWaitingTasksUncancelled() {
    ScheduledExecutorService executor = create();
    AtomicBoolean ran = new AtomicBoolean();
    List<Future<?>> tasks = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      tasks.add(executor.schedule(() -> ran.set(true), 9, HOURS));
      tasks.add(executor.scheduleAtFixedRate(() -> ran.set(true), 9, 9, HOURS));
      tasks.add(executor.scheduleWithFixedDelay(() -> ran.set(true), 9, 9, HOURS));
    }

    List<Runnable> neverBegun = executor.shutdownNow();

    assertThat(neverBegun).hasSize(9);
    assertThat(new ArrayList<Object>(neverBegun)).containsExactlyInAnyOrderElementsOf(tasks);
    assertThat(tasks).noneMatch(Future::isDone).noneMatch(Future::isCancelled);
    assertTerminates(executor);
    neverBegun.forEach(Runnable::run);
    assertThat(ran).isFalse();
    assertThat(tasks).allMatch(Future::isCancelled);
  }

  @Test
  void shutdownNowReturnsTasksThatWaitForAWorker() {
    ScheduledExecutorService executor = create();
    CountDownLatch busy = new CountDownLatch(Implementation.THREADS);
    Callable<?> blockUntilInterrupted =
        () -> {
          busy.countDown();
          mayEnd.await();
          return null;
        };
    List<Future<?>> tasks = new ArrayList<>();
    for (int i = 0; i < Implementation.THREADS; i++) {
      tasks.add(executor.submit(blockUntilInterrupted));
    }
    Await.zero(busy);
    for (int i = 0; i < 500; i++) {
      tasks.add(executor.submit(NOTHING));
    }

    List<Runnable> neverBegun = executor.shutdownNow();

    assertTerminates(executor);
    assertThat(tasks).noneMatch(Future::isCancelled);
    tasks.removeIf(Future::isDone);
    assertThat(new ArrayList<Object>(neverBegun)).containsExactlyInAnyOrderElementsOf(tasks);
  }

  @Test
  void shutdownNowInterruptsRunningTasksWithoutCancelling() throws Exception {
    ScheduledExecutorService executor = create();
    Callable<String> work =
        () -> {
          blockUninterruptibly();
          return "result";
        };
    Future<String> task = executor.submit(work);
    Await.zero(begun);

    assertThat(executor.shutdownNow()).isEmpty();

    Await.until("an interrupt", () -> interrupts.get() == 1);
    assertThat(task.isDone()).isFalse();
    mayEnd.countDown();
    assertThat(task.get()).isEqualTo("result");
    assertTerminates(executor);
  }

  @Test
  void shutdownNowInterruptsAndEndsARunningPeriodicTask() {
    ScheduledExecutorService executor = create(true, true);
    AtomicInteger runs = new AtomicInteger();
    ScheduledFuture<?> task =
        executor.scheduleWithFixedDelay(
            () -> {
              blockUninterruptibly();
              runs.incrementAndGet();
            },
            0,
            1,
            NANOSECONDS);
    Await.zero(begun);

    executor.shutdownNow();

    Await.until("an interrupt", () -> interrupts.get() == 1);
    mayEnd.countDown();
    assertTerminates(executor);
    assertThat(runs).hasValue(1);
    assertThat(task.isCancelled()).isTrue();
  }

  @Test
  void cancelledTaskThatStillRunsDelaysTermination() {
    ScheduledExecutorService executor = create();
    Future<?> task = executor.submit(this::blockUninterruptibly);
    Await.zero(begun);
    task.cancel(true);

    executor.shutdown();

    assertThat(task.isDone()).isTrue();
    assertThat(executor.isTerminated()).isFalse();
    mayEnd.countDown();
    assertTerminates(executor);
  }

  @Test
  void taskMayShutDownItsExecutor() {
    ScheduledExecutorService executor = create();
    Future<?> delayed = executor.schedule(NOTHING, 2, MILLISECONDS);
    executor.execute(executor::shutdown);
    assertTerminates(executor);
    assertThat(delayed.isDone()).isTrue();
    assertThat(delayed.isCancelled()).isFalse();
  }

  @Test
  void periodicTaskMayStopItsExecutorWhichInterruptsItToo() throws Exception {
    ScheduledExecutorService executor = create();
    AtomicBoolean interrupted = new AtomicBoolean();
    ScheduledFuture<?> task =
        executor.scheduleAtFixedRate(
            () -> {
              executor.shutdownNow();
              interrupted.set(Thread.currentThread().isInterrupted());
            },
            0,
            1,
            MILLISECONDS);
    assertTerminates(executor);
    assertThat(interrupted).isTrue();
    assertThat(task.isCancelled()).isTrue();
  }

  @Test
  void closeWaitsForAcceptedTasksOnJdksThatHaveIt() throws Exception {
    assumeTrue(
        Arrays.stream(ExecutorService.class.getMethods())
            .anyMatch(method -> method.getName().equals("close")));
    ScheduledExecutorService executor = create();
    Future<String> task = executor.schedule(() -> "ran", 2, MILLISECONDS);

    ExecutorService.class.getMethod("close").invoke(executor);

    assertThat(executor.isTerminated()).isTrue();
    assertThat(task.isDone()).isTrue();
    assertThat(task.get()).isEqualTo("ran");
  }

  private static void assertTerminates(ScheduledExecutorService executor) {
    try {
      assertThat(executor.awaitTermination(60, SECONDS)).as("terminates").isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    assertThat(executor.isTerminated()).isTrue();
    assertThat(executor.isShutdown()).isTrue();
  }

  private void blockUninterruptibly() {
    begun.countDown();
    while (true) {
      try {
        mayEnd.await();
        return;
      } catch (InterruptedException e) {
        interrupts.incrementAndGet();
      }
    }
  }
}
