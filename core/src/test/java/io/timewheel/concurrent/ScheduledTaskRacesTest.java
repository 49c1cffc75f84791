// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.Concurrently;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;

/** Tests tasks that race with their cancellation or with the shutdown of their executor. */
class ScheduledTaskRacesTest {
  @SuppressWarnings("UnnecessaryLambda") // a bare lambda would also match Callable
  private static final Runnable NOTHING = () -> {};

  private final HandDriven hand = new HandDriven();
  private final WheelScheduledExecutor executor =
      WheelScheduledExecutor.builder()
          .timer(hand.timer)
          .executor(Runnable::run)
          .executeExistingDelayedTasksAfterShutdown(false)
          .build();

  @RepeatedTest(300)
  void taskRunsOrIsCancelled() {
    AtomicInteger runs = new AtomicInteger();
    AtomicBoolean cancelled = new AtomicBoolean();
    ScheduledFuture<?> task = executor.schedule(runs::incrementAndGet, 1, MILLISECONDS);

    Concurrently.run(() -> hand.pass(1), () -> cancelled.set(task.cancel(false)));

    assertThat(runs).hasValueBetween(cancelled.get() ? 0 : 1, 1);
    assertThat(task.isDone()).isTrue();
    assertThat(task.isCancelled()).isEqualTo(cancelled.get());
    assertNothingIsLeft();
  }

  @RepeatedTest(300)
  @Tag("promise-33")
  void periodicTaskCancelledWhileItRunsDoesNotRunAgain() {
    AtomicInteger runs = new AtomicInteger();
    ScheduledFuture<?> task =
        executor.scheduleAtFixedRate(runs::incrementAndGet, 1, 1, MILLISECONDS);

    Concurrently.run(
        () -> {
          for (int i = 0; i < 50; i++) {
            hand.pass(1);
          }
        },
        () -> assertThat(task.cancel(false)).isTrue());

    int runsBefore = runs.get();
    assertThat(hand.timer.pendingTimeouts()).isZero();
    hand.pass(10);
    assertThat(runs).hasValue(runsBefore);
    assertNothingIsLeft();
  }

  @RepeatedTest(100)
  @Tag("promise-34")
  void taskScheduledDuringShutdownNowIsRefusedOrReturned() {
    Collection<Object> accepted = new ConcurrentLinkedQueue<>();
    List<Runnable> returned = new ArrayList<>();
    Concurrently.run(
        () -> scheduleManyInto(accepted),
        () -> scheduleManyInto(accepted),
        () -> returned.addAll(executor.shutdownNow()));

    assertThat(new ArrayList<Object>(returned)).containsExactlyInAnyOrderElementsOf(accepted);
    assertNothingIsLeft();
  }

  @RepeatedTest(300)
  void periodicTaskThatShutdownNowReturnsIsNotCancelled() {
    ScheduledFuture<?> task = executor.scheduleAtFixedRate(NOTHING, 1, 1, MILLISECONDS);
    List<Runnable> returned = new ArrayList<>();

    Concurrently.run(
        () -> {
          for (int i = 0; i < 50; i++) {
            hand.pass(1);
          }
        },
        () -> returned.addAll(executor.shutdownNow()));

    assertThat(task.isCancelled()).isEqualTo(returned.isEmpty());
    assertNothingIsLeft();
  }

  @RepeatedTest(100)
  @Tag("promise-34")
  void taskScheduledDuringShutdownIsRefusedOrCancelled() {
    Collection<Object> accepted = new ConcurrentLinkedQueue<>();
    Concurrently.run(
        () -> scheduleManyInto(accepted), () -> scheduleManyInto(accepted), executor::shutdown);

    assertThat(accepted).allMatch(task -> ((Future<?>) task).isCancelled());
    assertNothingIsLeft();
  }

  @RepeatedTest(100)
  @Tag("promise-35")
  void taskScheduledWhileTheTimerStopsIsRefusedOrFails() {
    Collection<Object> accepted = new ConcurrentLinkedQueue<>();
    Concurrently.run(
        () -> scheduleManyInto(accepted), () -> scheduleManyInto(accepted), hand.timer::stop);

    assertThat(accepted)
        .map(task -> (Future<?>) task)
        .allMatch(Future::isDone)
        .noneMatch(Future::isCancelled);
    assertNothingIsLeft();
  }

  private void scheduleManyInto(Collection<Object> accepted) {
    try {
      for (int i = 0; i < 200; i++) {
        accepted.add(executor.schedule(NOTHING, 1, HOURS));
      }
    } catch (RejectedExecutionException e) {
      // the other thread won the race, which is also correct
    }
  }

  private void assertNothingIsLeft() {
    assertThat(hand.timer.pendingTimeouts()).isZero();
    executor.shutdown();
    assertThat(executor.isTerminated()).isTrue();
  }
}
