// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import io.timewheel.testing.Await;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the behaviour of Netty's timer that applications rely on. The build runs this class without
 * the agent, and with the agent on Netty 4.1 and 4.2.
 */
@Tag("behaviour")
class NettyBehaviourTest {
  private static final TimerTask NOTHING = timeout -> {};
  private final HashedWheelTimer timer = new HashedWheelTimer(daemons(), 10, MILLISECONDS, 8);

  @AfterEach
  void stop() {
    timer.stop();
  }

  private static ThreadFactory daemons() {
    return task -> {
      Thread thread = new Thread(task, "timer under test");
      thread.setDaemon(true);
      return thread;
    };
  }

  private static HashedWheelTimer limited(long limit) {
    return new HashedWheelTimer(daemons(), 10, MILLISECONDS, 8, false, limit);
  }

  /** Waits until a timeout has run, and so all tasks due before it. */
  private static void passTime(HashedWheelTimer timer, long millis) throws InterruptedException {
    CountDownLatch passed = new CountDownLatch(1);
    timer.newTimeout(timeout -> passed.countDown(), millis, MILLISECONDS);
    passed.await();
  }

  private static void awaitPending(HashedWheelTimer timer, long pending) {
    Await.until(() -> timer.pendingTimeouts() == pending);
  }

  // The agent

  @Test
  void agentIsInPlaceIfTheBuildWantsIt() {
    assertThat(timer.toString().contains("[Timewheel, tick "))
        .isEqualTo(Boolean.getBoolean("timewheel.agent.expected"));
  }

  // Firing

  @Test
  void noTimeoutIsEarlyOrLostOrRunsTwice() throws InterruptedException {
    int timeouts = 100_000;
    AtomicInteger early = new AtomicInteger();
    AtomicInteger runs = new AtomicInteger();
    CountDownLatch left = new CountDownLatch(timeouts);
    for (int i = 0; i < timeouts; i++) {
      long startNanos = System.nanoTime();
      timer.newTimeout(
          timeout -> {
            if (System.nanoTime() - startNanos < MILLISECONDS.toNanos(125)) {
              early.incrementAndGet();
            }
            runs.incrementAndGet();
            left.countDown();
          },
          125,
          MILLISECONDS);
    }

    left.await();
    assertThat(timer.stop()).isEmpty();
    assertThat(early).hasValue(0);
    assertThat(runs).hasValue(timeouts);
    assertThat(timer.pendingTimeouts()).isZero();
  }

  @Test
  void timeoutsOfATickRunInTheOrderOfTheirStart() throws InterruptedException {
    List<Integer> order = new ArrayList<>();
    List<Integer> expected = new ArrayList<>();
    CountDownLatch left = new CountDownLatch(1000);
    for (int i = 0; i < 1000; i++) {
      int number = i;
      expected.add(i);
      timer.newTimeout(
          timeout -> {
            order.add(number);
            left.countDown();
          },
          50 + i / 100,
          MILLISECONDS);
    }

    left.await();
    assertThat(order).isEqualTo(expected);
  }

  /** The timeouts are due when the blocked task ends. Each thread starts every fourth of them. */
  @Test
  void timeoutsBehindABlockedTaskRunInTheOrderOfTheirDeadlines() throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    timer.newTimeout(timeout -> started.await(), 0, MILLISECONDS);
    List<Integer> order = new ArrayList<>();
    CountDownLatch left = new CountDownLatch(40);
    long startNanos = System.nanoTime();
    List<ExecutorService> threads =
        List.of(
            Executors.newSingleThreadExecutor(),
            Executors.newSingleThreadExecutor(),
            Executors.newSingleThreadExecutor(),
            Executors.newSingleThreadExecutor());
    for (int i = 0; i < 40; i++) {
      int number = i;
      TimerTask task =
          timeout -> {
            order.add(number);
            left.countDown();
          };
      threads.get(i % 4).submit(() -> timer.newTimeout(task, 20L * number, MILLISECONDS)).get();
    }

    Await.until(() -> System.nanoTime() - startNanos > MILLISECONDS.toNanos(1_000));
    started.countDown();

    left.await();
    threads.forEach(ExecutorService::shutdown);
    assertThat(order).isEqualTo(IntStream.range(0, 40).boxed().toList());
  }

  @Test
  void delayOfLessThanZeroRunsSoon() throws InterruptedException {
    CountDownLatch ran = new CountDownLatch(2);
    timer.newTimeout(timeout -> ran.countDown(), -1, MILLISECONDS);
    timer.newTimeout(timeout -> ran.countDown(), Long.MIN_VALUE, NANOSECONDS);

    ran.await();
  }

  @Test
  void longestDelayNeverRuns() throws InterruptedException {
    Timeout timeout = timer.newTimeout(NOTHING, Long.MAX_VALUE, MILLISECONDS);

    passTime(timer, 100);

    assertThat(timeout.isExpired()).isFalse();
    assertThat(timer.stop()).containsExactly(timeout);
  }

  @Test
  void taskGoesRoundTheWheelMoreThanOnce() throws InterruptedException {
    CountDownLatch left = new CountDownLatch(4);
    timer.newTimeout(
        new TimerTask() {
          @Override
          public void run(Timeout timeout) {
            left.countDown();
            if (left.getCount() > 0) {
              timeout.timer().newTimeout(timeout.task(), 90, MILLISECONDS);
            }
          }
        },
        90,
        MILLISECONDS);

    left.await();
    assertThat(timer.stop()).isEmpty();
  }

  @Test
  void insideItsTaskATimeoutIsExpiredAndCannotBeCancelled() {
    CompletableFuture<List<Boolean>> seen = new CompletableFuture<>();
    Timeout started =
        timer.newTimeout(
            timeout ->
                seen.complete(
                    List.of(timeout.isExpired(), timeout.cancel(), timeout.isCancelled())),
            1,
            MILLISECONDS);

    assertThat(seen.join()).containsExactly(true, false, false);
    assertThat(started.isExpired()).isTrue();
    assertThat(started.timer()).isSameAs(timer);
    assertThat(started.toString()).contains("deadline: ", " ns ago", ", task: ");
  }

  @Test
  void taskThatThrowsEndsNothing() throws InterruptedException {
    timer.newTimeout(
        timeout -> {
          throw new StackOverflowError("on purpose");
        },
        1,
        MILLISECONDS);

    passTime(timer, 100);

    assertThat(timer.stop()).isEmpty();
  }

  @Test
  void pendingIsCountedDownBeforeTheTaskRuns() {
    CompletableFuture<Long> seen = new CompletableFuture<>();
    timer.newTimeout(timeout -> seen.complete(timer.pendingTimeouts()), 1, MILLISECONDS);

    assertThat(seen.join()).isZero();
  }

  // The executor

  @Test
  void tasksRunOnTheExecutor() throws InterruptedException {
    ExecutorService executor = Executors.newSingleThreadExecutor(task -> new Thread(task, "mine"));
    HashedWheelTimer timer =
        new HashedWheelTimer(daemons(), 10, MILLISECONDS, 8, false, 0, executor);
    CompletableFuture<String> thread = new CompletableFuture<>();
    timer.newTimeout(timeout -> thread.complete(Thread.currentThread().getName()), 1, MILLISECONDS);

    assertThat(thread.join()).isEqualTo("mine");
    timer.stop();
    executor.shutdown();
  }

  @Test
  void executorThatRejectsDoesNotEndTheTimer() {
    CountDownLatch rejected = new CountDownLatch(2);
    HashedWheelTimer timer =
        new HashedWheelTimer(
            daemons(),
            10,
            MILLISECONDS,
            8,
            false,
            0,
            task -> {
              rejected.countDown();
              throw new RejectedExecutionException("on purpose");
            });
    Timeout first = timer.newTimeout(NOTHING, 1, MILLISECONDS);
    timer.newTimeout(NOTHING, 1, MILLISECONDS);

    awaitPending(timer, 0);
    timer.stop();
    assertThat(rejected.getCount()).isZero();
    assertThat(first.isExpired()).isTrue();
  }

  // Cancelling

  @Test
  void cancelledTimeoutNeverRunsAndIsCancelledOnce() throws InterruptedException {
    AtomicBoolean ran = new AtomicBoolean();
    Timeout timeout = timer.newTimeout(t -> ran.set(true), 500, MILLISECONDS);

    assertThat(timeout.cancel()).isTrue();
    assertThat(timeout.cancel()).isFalse();
    passTime(timer, 600);

    assertThat(ran).isFalse();
    assertThat(timeout.isCancelled()).isTrue();
    assertThat(timeout.isExpired()).isFalse();
    assertThat(timeout.toString()).contains(", cancelled");
    assertThat(timer.stop()).isEmpty();
  }

  @Test
  void exactlyOneOfCancelAndExpiryWins() {
    int timeouts = 20_000;
    AtomicInteger ran = new AtomicInteger();
    int cancelled = 0;
    for (int i = 0; i < timeouts; i++) {
      Timeout timeout = timer.newTimeout(t -> ran.incrementAndGet(), i % 20, MILLISECONDS);
      if (i % 2 == 0 && timeout.cancel()) {
        cancelled++;
      }
    }

    awaitPending(timer, 0);
    assertThat(timer.stop()).isEmpty();
    assertThat(ran.get() + cancelled).isEqualTo(timeouts);
  }

  /** A task that records its cancelled timeouts, since Netty 4.2. */
  private static final class NotifiedTask implements TimerTask {
    final List<Timeout> notified = Collections.synchronizedList(new ArrayList<>());
    final Set<String> threads = ConcurrentHashMap.newKeySet();

    NotifiedTask() {
      boolean notifies = true;
      try {
        TimerTask.class.getMethod("cancelled", Timeout.class);
      } catch (NoSuchMethodException e) {
        notifies = false;
      }
      assumeTrue(notifies, "since Netty 4.2");
    }

    @Override
    public void run(Timeout expired) {}

    @Override
    public void cancelled(Timeout cancelled) {
      notified.add(cancelled);
      threads.add(Thread.currentThread().getName());
      throw new IllegalStateException("on purpose");
    }
  }

  @Test
  void timersThreadNotifiesATaskOfACancel() throws InterruptedException {
    NotifiedTask task = new NotifiedTask();
    CountDownLatch mayEnd = new CountDownLatch(1);
    timer.newTimeout(timeout -> mayEnd.await(), 0, MILLISECONDS);
    List<Timeout> timeouts = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      timeouts.add(timer.newTimeout(task, 1, HOURS));
    }

    assertThat(timeouts).allMatch(Timeout::cancel);
    assertThat(task.notified).isEmpty();
    mayEnd.countDown();
    passTime(timer, 100);

    assertThat(task.notified).isEqualTo(timeouts);
    assertThat(task.threads).containsExactly("timer under test");
  }

  @Test
  void stopNotifiesTasksOnlyOfEarlierCancels() {
    NotifiedTask task = new NotifiedTask();
    Timeout cancelled = timer.newTimeout(task, 1, HOURS);
    Timeout left = timer.newTimeout(task, 1, HOURS);

    cancelled.cancel();

    assertThat(timer.stop()).containsExactly(left);
    assertThat(task.notified).containsExactly(cancelled);
    assertThat(task.threads).containsExactly("timer under test");
  }

  @Test
  void eachCancelThatWinsNotifiesItsTaskOnce() {
    NotifiedTask task = new NotifiedTask();
    List<Timeout> timeouts = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      timeouts.add(timer.newTimeout(task, i % 40, MILLISECONDS));
    }
    List<Timeout> cancelled = timeouts.stream().filter(Timeout::cancel).toList();

    timer.stop();
    assertThat(task.notified).containsExactlyInAnyOrderElementsOf(cancelled);
  }

  // The limit

  @Test
  void limitRefusesAndACancelMakesRoom() {
    HashedWheelTimer timer = limited(2);
    Timeout first = timer.newTimeout(NOTHING, 1, HOURS);
    timer.newTimeout(NOTHING, 1, HOURS);

    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> timer.newTimeout(NOTHING, 1, HOURS))
        .withMessage(
            "Number of pending timeouts (3) is greater than or equal to maximum allowed pending"
                + " timeouts (2)");

    first.cancel();
    awaitPending(timer, 1);
    timer.newTimeout(NOTHING, 1, HOURS);
    assertThat(timer.stop()).hasSize(2);
  }

  @Test
  void expiryMakesRoom() {
    HashedWheelTimer timer = limited(1);
    timer.newTimeout(NOTHING, 1, MILLISECONDS);

    awaitPending(timer, 0);

    timer.newTimeout(NOTHING, 1, HOURS);
    timer.stop();
  }

  // Stopping

  @Test
  void stopReturnsAndCancelsThePendingTimeouts() {
    List<Timeout> started = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      started.add(timer.newTimeout(NOTHING, 1 + i, HOURS));
    }

    Set<Timeout> left = timer.stop();

    assertThat(left).containsExactlyInAnyOrderElementsOf(started);
    assertThat(left).allMatch(Timeout::isCancelled);
    assertThat(timer.stop()).isEmpty();
  }

  @Test
  void stoppedTimerRefuses() {
    timer.newTimeout(NOTHING, 1, HOURS);
    timer.stop();

    assertThatIllegalStateException()
        .isThrownBy(() -> timer.newTimeout(NOTHING, 1, HOURS))
        .withMessage("cannot be started once stopped");
    assertThatIllegalStateException().isThrownBy(timer::start);
  }

  @Test
  void timerThatNeverStartedStops() {
    assertThat(timer.stop()).isEmpty();
    assertThatIllegalStateException().isThrownBy(timer::start);
  }

  @Test
  void stopInterruptsTheTaskThatRuns() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    timer.newTimeout(
        timeout -> {
          begun.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            interrupted.complete(true);
          }
        },
        1,
        MILLISECONDS);
    begun.await();

    timer.stop();

    assertThat(interrupted).isCompletedWithValue(true);
  }

  @Test
  void stopInsideATaskThrows() {
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    timer.newTimeout(
        timeout -> {
          try {
            timer.stop();
          } catch (IllegalStateException e) {
            thrown.complete(e);
          }
        },
        1,
        MILLISECONDS);

    assertThat(thrown.join()).hasMessageContaining("stop() cannot be called from TimerTask");
    Timeout left = timer.newTimeout(NOTHING, 1, HOURS);
    assertThat(timer.stop()).containsExactly(left);
  }

  @Test
  void threadEndsWithTheTimer() throws InterruptedException {
    CompletableFuture<Thread> made = new CompletableFuture<>();
    ThreadFactory factory =
        task -> {
          Thread thread = daemons().newThread(task);
          made.complete(thread);
          return thread;
        };
    HashedWheelTimer timer = new HashedWheelTimer(factory);
    timer.start();
    assertThat(made.join().isAlive()).isTrue();

    timer.stop();

    made.join().join();
  }

  // The surface

  @Test
  void hasAllConstructors() {
    ThreadFactory factory = daemons();
    List<HashedWheelTimer> made =
        List.of(
            new HashedWheelTimer(),
            new HashedWheelTimer(100, MILLISECONDS),
            new HashedWheelTimer(100, MILLISECONDS, 16),
            new HashedWheelTimer(factory),
            new HashedWheelTimer(factory, 100, MILLISECONDS),
            new HashedWheelTimer(factory, 100, MILLISECONDS, 16),
            new HashedWheelTimer(factory, 100, MILLISECONDS, 16, true),
            new HashedWheelTimer(factory, 100, MILLISECONDS, 16, true, 5),
            new HashedWheelTimer(factory, 100, MILLISECONDS, 16, true, 5, Runnable::run));

    made.forEach(HashedWheelTimer::stop);
    assertThat(HashedWheelTimer.WORKER_STATE_INIT).isZero();
    assertThat(HashedWheelTimer.WORKER_STATE_STARTED).isEqualTo(1);
    assertThat(HashedWheelTimer.WORKER_STATE_SHUTDOWN).isEqualTo(2);
  }

  @Test
  void refusesInvalidArguments() {
    ThreadFactory factory = daemons();
    assertThatNullPointerException().isThrownBy(() -> new HashedWheelTimer(null));
    assertThatNullPointerException().isThrownBy(() -> new HashedWheelTimer(factory, 1, null));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HashedWheelTimer(factory, 0, MILLISECONDS));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HashedWheelTimer(factory, 1, MILLISECONDS, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HashedWheelTimer(factory, Long.MAX_VALUE, MILLISECONDS));
    assertThatNullPointerException().isThrownBy(() -> timer.newTimeout(null, 1, HOURS));
    assertThatNullPointerException().isThrownBy(() -> timer.newTimeout(NOTHING, 1, null));
    assertThat(timer.pendingTimeouts()).isZero();
  }

  @Test
  void leakDetectorTracksTheTimerUntilItIsStopped() throws ReflectiveOperationException {
    HashedWheelTimer tracked = new HashedWheelTimer(daemons(), 1, MILLISECONDS, 8, true);
    Object leak = field("leak").get(tracked);
    assertThat(leak).isNotNull();

    tracked.stop();

    Object closedAgain =
        Class.forName("io.netty.util.ResourceLeakTracker")
            .getMethod("close", Object.class)
            .invoke(leak, tracked);
    assertThat(closedAgain).isEqualTo(false);
  }

  @Test
  void tooManyTimersAreNoticed() throws ReflectiveOperationException {
    List<HashedWheelTimer> timers = new ArrayList<>();
    for (int i = 0; i < 70; i++) {
      timers.add(new HashedWheelTimer(daemons(), 1, MILLISECONDS, 8, false));
    }
    timers.forEach(HashedWheelTimer::stop);

    assertThat((AtomicBoolean) field("WARNED_TOO_MANY_INSTANCES").get(null)).isTrue();
  }

  private static Field field(String name) throws NoSuchFieldException {
    Field field = HashedWheelTimer.class.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }

  @Test
  void subclassesWork() throws InterruptedException {
    AtomicInteger started = new AtomicInteger();
    HashedWheelTimer counting =
        new HashedWheelTimer(daemons(), 10, MILLISECONDS) {
          @Override
          public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
            started.incrementAndGet();
            return super.newTimeout(task, delay, unit);
          }
        };

    passTime(counting, 100);

    assertThat(started).hasValue(1);
    assertThat(counting.stop()).isEmpty();
  }
}
