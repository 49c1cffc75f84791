// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.timewheel.HashedWheelTimer;
import io.timewheel.PolledTimer;
import io.timewheel.TestClock;
import io.timewheel.TimeSource;
import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerStats;
import io.timewheel.TimerTask;
import io.timewheel.testing.Await;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests how tasks end if workers or the timer refuse them, and the ownership of workers and timer.
 */
@SuppressWarnings("FutureReturnValueIgnored")
class WheelScheduledExecutorTest {
  @SuppressWarnings("UnnecessaryLambda") // a bare lambda would also match Callable
  private static final Runnable NOTHING = () -> {};

  private final HandDriven hand = new HandDriven();
  private final WheelScheduledExecutor executor = hand.executor();
  private final RejectedExecutionException full = new RejectedExecutionException("full");
  private final AtomicBoolean rejecting = new AtomicBoolean();
  private final AtomicInteger runs = new AtomicInteger();

  /** Workers that reject when a flag is set. */
  private final WheelScheduledExecutor refusing =
      hand.builder()
          .executor(
              command -> {
                if (rejecting.get()) {
                  throw full;
                }
                hand.queue.add(command);
              })
          .build();

  // Workers that refuse

  @Test
  void workersThatRejectATaskWhenItIsDueFailIt() {
    Future<?> once = refusing.schedule(NOTHING, 5, MILLISECONDS);
    Future<?> periodic = refusing.scheduleAtFixedRate(NOTHING, 3, 4, MILLISECONDS);
    hand.advance(4);
    rejecting.set(true);

    hand.advance(1);
    assertFailed(once, full);
    assertThat(hand.thrown).hasValue(full);
    assertThat(periodic.isDone()).isFalse();
    hand.advance(2);
    assertFailed(periodic, full);

    assertThat(hand.timer.pendingTimeouts()).isZero();
    refusing.shutdown();
    assertThat(refusing.isTerminated()).isTrue();
  }

  @Test
  void workersThatRejectAMissedRunFailTheTask() {
    Future<?> task = refusing.scheduleAtFixedRate(() -> rejecting.set(true), 1, 1, MILLISECONDS);
    hand.pass(10);
    hand.work();
    assertFailed(task, full);
    refusing.shutdown();
    assertThat(refusing.isTerminated()).isTrue();
  }

  @Test
  void rejectsATaskDueAtOnceIfTheWorkersDo() {
    rejecting.set(true);
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> refusing.execute(NOTHING))
        .isSameAs(full);
    refusing.shutdown();
    assertThat(refusing.isTerminated()).isTrue();
  }

  @Test
  void taskCancelledBeforeTheHandOverIsNotHandedOver() {
    Queue<Runnable> expired = new ArrayDeque<>();
    PolledTimer handingOff =
        PolledTimer.builder().timeSource(hand.clock).executor(expired::add).build();
    WheelScheduledExecutor on = hand.builder().timer(handingOff).build();
    Future<?> task = on.schedule(NOTHING, 1, MILLISECONDS);
    hand.clock.advance(Duration.ofMillis(1));
    handingOff.poll();
    assertThat(task.cancel(false)).isTrue();

    expired.remove().run();

    assertThat(hand.queue).isEmpty();
  }

  @Test
  void taskThatWorkersRunAndRejectIsNotRefused() {
    Executor treacherous =
        command -> {
          command.run();
          throw full;
        };
    WheelScheduledExecutor on = hand.builder().executor(treacherous).build();

    Future<?> atOnce = on.submit(runs::incrementAndGet);
    Future<?> later = on.schedule(runs::incrementAndGet, 1, MILLISECONDS);
    hand.pass(1);

    assertThat(atOnce).isDone();
    assertThat(later).isDone();
    assertThat(runs).hasValue(2);
    assertThat(hand.thrown).hasValue(full);
  }

  @Test
  void taskThatWorkersTakeAndRejectNeverRuns() {
    Executor treacherous =
        command -> {
          hand.queue.add(command);
          throw full;
        };
    WheelScheduledExecutor on = hand.builder().executor(treacherous).build();
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> on.execute(runs::incrementAndGet));
    hand.work();
    assertThat(runs).hasValue(0);
  }

  // Workers and shutdownNow

  @Test
  void workersIgnoreATaskReturnedByShutdownNow() {
    Future<?> task = executor.submit(runs::incrementAndGet);
    List<Runnable> returned = executor.shutdownNow();
    assertThat(new ArrayList<Object>(returned)).containsExactly(task);

    hand.work();

    assertThat(task.isDone()).isFalse();
    assertThat(runs).hasValue(0);
  }

  @Test
  @Tag("promise-34")
  void workersIgnoreATaskAboutToBeReturned() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    Runnable blockUntilInterrupted =
        () -> {
          begun.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            // expected
          }
        };
    executor.execute(blockUntilInterrupted);
    Runnable blocking = hand.queue.remove();
    Thread runner =
        new Thread(blocking) {
          @Override
          public void interrupt() {
            hand.work(); // in the middle: some of the many tasks are not returned yet
            super.interrupt();
          }
        };
    runner.start();
    Await.zero(begun);
    List<Object> tasks = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      tasks.add(executor.submit(runs::incrementAndGet));
    }

    List<Runnable> returned = executor.shutdownNow();

    runner.join();
    assertThat(new ArrayList<Object>(returned)).containsExactlyInAnyOrderElementsOf(tasks);
    assertThat(tasks).noneMatch(task -> ((Future<?>) task).isDone());
    assertThat(runs).hasValue(0);
    assertThat(executor.isTerminated()).isTrue();
  }

  // A timer that refuses

  @Test
  void stoppedTimerFailsWaitingTasks() {
    Future<?> once = executor.schedule(NOTHING, 1, HOURS);
    Future<?> periodic = executor.scheduleAtFixedRate(NOTHING, 1, 1, HOURS);
    Future<?> withTheWorkers = executor.submit(NOTHING);

    hand.timer.stop();

    assertFailedBecauseTheTimerIsLost(once);
    assertFailedBecauseTheTimerIsLost(periodic);
    hand.work();
    assertSucceeded(withTheWorkers);
    executor.shutdown();
    assertThat(executor.isTerminated()).isTrue();
  }

  @Test
  void stoppedTimerRejectsDelayedTasks() {
    hand.timer.stop();
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> executor.schedule(NOTHING, 1, HOURS))
        .withMessage("the timer runs no more tasks")
        .withCauseInstanceOf(IllegalStateException.class);
    Future<?> atOnce = executor.submit(NOTHING);
    hand.work();
    assertSucceeded(atOnce);
    executor.shutdown();
    assertThat(executor.isTerminated()).isTrue();
  }

  @Test
  void stoppedTimerFailsAPeriodicTaskAfterItsRun() {
    Future<?> task = executor.scheduleAtFixedRate(NOTHING, 1, 1, MILLISECONDS);
    hand.pass(1);
    hand.timer.stop();
    assertThat(task.isDone()).isFalse();
    hand.work();
    assertFailedBecauseTheTimerIsLost(task);
  }

  @Test
  void failedTimerFailsWaitingTasksWhenNoticed() {
    TestClock clock = new TestClock();
    HashedWheelTimer failing =
        HashedWheelTimer.builder()
            .timeSource(clock)
            .threadFactory(work -> new Thread(NOTHING)) // ends without running the timer
            .build();
    ChangingTimer timer = new ChangingTimer(hand.timer);
    WheelScheduledExecutor on = hand.builder().timer(timer).build();
    Future<?> waiting = on.schedule(NOTHING, 1, HOURS);
    Future<?> expired = on.schedule(NOTHING, 1, MILLISECONDS);
    hand.pass(1);
    Await.until(
        "a timer that has failed",
        () -> {
          try {
            failing.newTimeout(timeout -> {}, 1, HOURS).cancel();
            return false;
          } catch (IllegalStateException e) {
            return true;
          }
        });
    timer.delegate = failing;

    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> on.schedule(NOTHING, 1, HOURS))
        .withCauseInstanceOf(IllegalStateException.class);

    assertFailedBecauseTheTimerIsLost(waiting);
    assertThat(expired.isDone()).isFalse();
    hand.work();
    assertSucceeded(expired);
    on.shutdown();
    assertThat(on.isTerminated()).isTrue();
    failing.stop();
  }

  @Test
  void timerAtItsLimitRejectsDelayedTasks() {
    PolledTimer limited =
        PolledTimer.builder().timeSource(hand.clock).maxPendingTimeouts(1).build();
    WheelScheduledExecutor on = hand.builder().timer(limited).build();
    Future<?> first = on.schedule(NOTHING, 1, HOURS);
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> on.schedule(NOTHING, 1, HOURS))
        .withMessageContaining("1");
    assertThat(first.isDone()).isFalse();
    assertThat(first.cancel(false)).isTrue();
    on.shutdown();
    assertThat(on.isTerminated()).isTrue();
  }

  /**
   * Regression: the task left the timer before each run and was then refused, so its future failed.
   */
  @Test
  @Tag("promise-32")
  void periodicTaskContinuesIfTheTimerIsFull() {
    PolledTimer limited =
        PolledTimer.builder().timeSource(hand.clock).maxPendingTimeouts(1).build();
    WheelScheduledExecutor on = hand.builder().timer(limited).build();
    AtomicInteger runs = new AtomicInteger();
    AtomicInteger refusals = new AtomicInteger();
    Future<?> task =
        on.scheduleAtFixedRate(
            () -> {
              runs.incrementAndGet();
              try {
                limited.newTimeout(timeout -> {}, 1, HOURS);
              } catch (RejectedExecutionException e) {
                refusals.incrementAndGet();
              }
            },
            1,
            1,
            MILLISECONDS);
    for (int i = 0; i < 5; i++) {
      hand.clock.advance(Duration.ofMillis(1));
      limited.poll();
      hand.work();
    }
    assertThat(runs).hasValue(5);
    assertThat(refusals).as("it counts towards the limit while it runs").hasValue(5);
    assertThat(task.cancel(false)).isTrue();
    assertThat(limited.pendingTimeouts()).isZero();
  }

  @Test
  @Tag("promise-32")
  void periodicTaskIsRefusedWhenItIsScheduledAndNotAfterItsFirstRun() {
    PolledTimer limited =
        PolledTimer.builder().timeSource(hand.clock).maxPendingTimeouts(1).build();
    WheelScheduledExecutor on = hand.builder().timer(limited).build();
    limited.newTimeout(timeout -> {}, 1, HOURS);
    AtomicInteger runs = new AtomicInteger();
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> on.scheduleAtFixedRate(runs::incrementAndGet, 0, 1, MILLISECONDS));
    hand.work();
    assertThat(runs).hasValue(0);
    on.shutdown();
    assertThat(on.isTerminated()).isTrue();
  }

  @Test
  void clockOfATimerStartsNothingOnIt() {
    hand.executor();
    assertThat(hand.timer.stats().started()).isZero();
  }

  @Test
  void refusesAStoppedTimer() {
    hand.timer.stop();
    assertThatIllegalStateException().isThrownBy(hand::executor);
  }

  // Ownership and settings

  @Test
  void doesNotStopABorrowedTimerAndWorkers() {
    ExecutorService workers = Executors.newSingleThreadExecutor();
    WheelScheduledExecutor lent =
        WheelScheduledExecutor.builder().timer(hand.timer).executor(workers).build();
    lent.shutdown();
    assertThat(lent.isTerminated()).isTrue();
    assertThat(hand.timer.isStopped()).isFalse();
    assertThat(hand.timer.pendingTimeouts()).isZero();
    assertThat(workers.isShutdown()).isFalse();
    workers.shutdown();
  }

  @Test
  void ownTimerAndWorkersStopWithTheExecutor() {
    ExecutorService workers = Executors.newSingleThreadExecutor();
    WheelScheduledExecutor owner =
        WheelScheduledExecutor.builder().ownTimer(hand.timer).ownExecutor(workers).build();
    ScheduledFuture<?> task = owner.schedule(NOTHING, 1, HOURS);
    owner.shutdown();
    assertThat(hand.timer.isStopped()).isFalse();
    assertThat(workers.isShutdown()).isFalse();
    task.cancel(false);
    assertThat(owner.isTerminated()).isTrue();
    assertThat(hand.timer.isStopped()).isTrue();
    assertThat(workers.isShutdown()).isTrue();
  }

  @Test
  void lastTimerAndExecutorSetWin() {
    ExecutorService workers = Executors.newSingleThreadExecutor();
    WheelScheduledExecutor lent =
        WheelScheduledExecutor.builder()
            .ownTimer(hand.timer)
            .ownExecutor(workers)
            .timer(hand.timer)
            .executor(workers)
            .build();
    lent.shutdownNow();
    assertThat(lent.isTerminated()).isTrue();
    assertThat(hand.timer.isStopped()).isFalse();
    assertThat(workers.isShutdown()).isFalse();
    workers.shutdown();
  }

  @Test
  void stopsItsOwnTimerEvenFromItsThread() throws Exception {
    HashedWheelTimer timer = new HashedWheelTimer(1, MILLISECONDS);
    WheelScheduledExecutor owner =
        WheelScheduledExecutor.builder().ownTimer(timer).executor(Runnable::run).build();
    owner.schedule(owner::shutdown, 1, MILLISECONDS);
    assertThat(owner.awaitTermination(1, HOURS)).isTrue();
    Await.until("the end of the timer", timer::isStopped);
  }

  @Test
  void ownsATimerAndDaemonsByDefault() throws Exception {
    WheelScheduledExecutor own = WheelScheduledExecutor.create();
    Future<Boolean> onADaemon =
        own.schedule(() -> Thread.currentThread().isDaemon(), 1, MILLISECONDS);
    assertThat(onADaemon.get()).isTrue();
    own.shutdown();
    assertThat(own.awaitTermination(1, HOURS)).isTrue();
    assertThat(own.toString()).contains("stopped").contains("terminated");
  }

  @Test
  void textShowsTheTimerAndTheState() {
    executor.schedule(NOTHING, 1, HOURS);
    assertThat(executor).hasToString("WheelScheduledExecutor(PolledTimer(), open, live tasks: 1)");
    executor.shutdown();
    assertThat(executor)
        .hasToString("WheelScheduledExecutor(PolledTimer(), shut down, live tasks: 1)");
    executor.shutdownNow();
    assertThat(executor)
        .hasToString("WheelScheduledExecutor(PolledTimer(), terminated, live tasks: 0)");
  }

  @Test
  void badArgumentsAreNamed() {
    WheelScheduledExecutor.Builder builder = WheelScheduledExecutor.builder();
    assertThatNullPointerException().isThrownBy(() -> builder.timer(null)).withMessage("timer");
    assertThatNullPointerException().isThrownBy(() -> builder.ownTimer(null)).withMessage("timer");
    assertThatNullPointerException()
        .isThrownBy(() -> builder.executor(null))
        .withMessage("executor");
    assertThatNullPointerException()
        .isThrownBy(() -> builder.ownExecutor(null))
        .withMessage("executor");
    assertThatNullPointerException()
        .isThrownBy(() -> executor.schedule(NOTHING, 1, null))
        .withMessage("unit");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> executor.scheduleAtFixedRate(NOTHING, 1, 0, HOURS))
        .withMessage("period: 0 (expected: more than zero)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> executor.scheduleWithFixedDelay(NOTHING, 1, -3, HOURS))
        .withMessage("delay: -3 (expected: more than zero)");
  }

  private static void assertSucceeded(Future<?> task) {
    assertThat(task).isDone();
    assertThat(task.isCancelled()).isFalse();
    assertThatCode(task::get).doesNotThrowAnyException();
  }

  private static void assertFailed(Future<?> task, Throwable cause) {
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> task.get(0, MILLISECONDS))
        .withCause(cause);
  }

  private static void assertFailedBecauseTheTimerIsLost(Future<?> task) {
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> task.get(0, MILLISECONDS))
        .havingCause()
        .isInstanceOf(RejectedExecutionException.class)
        .withMessage("the timer runs no more tasks");
  }

  /** Starts timeouts on one timer, and later on another. */
  private static final class ChangingTimer implements Timer {
    private Timer delegate;

    ChangingTimer(Timer first) {
      delegate = first;
    }

    @Override
    public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
      return delegate.newTimeout(task, delay, unit);
    }

    @Override
    public Set<Timeout> stop() {
      return delegate.stop();
    }

    @Override
    public Set<Timeout> stop(Duration shutdownTimeout) {
      return delegate.stop(shutdownTimeout);
    }

    @Override
    public boolean isStopped() {
      return delegate.isStopped();
    }

    @Override
    public long pendingTimeouts() {
      return delegate.pendingTimeouts();
    }

    @Override
    public TimerStats stats() {
      return delegate.stats();
    }

    @Override
    public TimeSource timeSource() {
      return delegate.timeSource();
    }
  }
}
