// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.timewheel.testing.Await;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests a timer whose thread cannot continue, or cannot begin: it reports the failure, and accepts
 * no timeout that no thread will run (contract, 28 and 29).
 */
@Timeout(60)
class WorkerDeathTest {

  private static final TimerTask NOTHING = timeout -> {};

  private final Error death = new InternalError("for the test");
  private final CountDownLatch mayDie = new CountDownLatch(1);
  private volatile Thread thread;
  private volatile Error logFailure;
  private volatile Throwable uncaught;

  private final List<LogRecord> logged = Collections.synchronizedList(new ArrayList<>());
  private final Logger logger = Logger.getLogger("io.timewheel");
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord record) {
          logged.add(record);
          Error failure = logFailure;
          if (failure != null) {
            throw failure;
          }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @BeforeEach
  void captureLog() {
    logger.addHandler(handler);
    logger.setUseParentHandlers(false);
  }

  @AfterEach
  void releaseLog() {
    logger.removeHandler(handler);
    logger.setUseParentHandlers(true);
  }

  // The thread cannot continue

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void timerThreadThatCannotContinueFailsTheTimer(boolean whileParking) throws Exception {
    HierarchicalWheelTimer timer = timer(new DyingClock(whileParking), this::remember);
    io.timewheel.Timeout pending = timer.newTimeout(NOTHING, 1, TimeUnit.HOURS);
    letItDie();

    assertThatIllegalStateException()
        .isThrownBy(() -> timer.newTimeout(NOTHING, 1, TimeUnit.MILLISECONDS))
        .withMessage("the timer has failed and runs no more tasks")
        .withCause(death);
    assertThat(logged)
        .singleElement()
        .satisfies(
            record -> {
              assertThat(record.getLevel()).isEqualTo(Level.SEVERE);
              assertThat(record.getThrown()).isSameAs(death);
            });
    assertThat(timer.pendingTimeouts()).isEqualTo(1);
    assertThat(timer.stop(Duration.ofDays(1))).containsExactly(pending);
    assertThat(timer.pendingTimeouts()).isZero();
  }

  @Test
  void pendingTimeoutOfADeadThreadCanStillBeCancelled() throws Exception {
    HierarchicalWheelTimer timer = timer(new DyingClock(true), this::remember);
    io.timewheel.Timeout pending = timer.newTimeout(NOTHING, 1, TimeUnit.HOURS);
    letItDie();

    assertThat(pending.cancel()).isTrue();
    assertThat(timer.stop(Duration.ofDays(1))).isEmpty();
  }

  @Test
  void deathThatCannotBeLoggedStillFailsTheTimer() throws Exception {
    logFailure = new OutOfMemoryError("for the test, of the logger");
    HierarchicalWheelTimer timer = timer(new DyingClock(true), this::remember);
    timer.newTimeout(NOTHING, 1, TimeUnit.HOURS);
    letItDie();

    assertThat(uncaught).isSameAs(logFailure);
    assertThatIllegalStateException()
        .isThrownBy(() -> timer.newTimeout(NOTHING, 1, TimeUnit.MILLISECONDS))
        .withCause(death);
    assertThat(timer.stop(Duration.ofDays(1))).hasSize(1);
  }

  @Test
  @SuppressWarnings({"removal", "deprecation"}) // Thread.stop works up to Java 19
  void killedTimerThreadFailsTheTimer() throws Exception {
    assumeTrue(Runtime.version().feature() < 20, "Java 20 and later cannot kill a thread");
    HierarchicalWheelTimer timer = timer(TimeSource.system(), this::remember);
    timer.newTimeout(NOTHING, 1, TimeUnit.HOURS);
    Await.until(() -> thread.getState() == Thread.State.TIMED_WAITING);

    thread.stop();
    thread.join();

    assertThatIllegalStateException()
        .isThrownBy(() -> timer.newTimeout(NOTHING, 1, TimeUnit.MILLISECONDS))
        .withCauseInstanceOf(ThreadDeath.class);
    assertThat(timer.stop(Duration.ofDays(1))).hasSize(1);
  }

  @Test
  void taskThatThrowsDoesNotEndTheThreadEvenIfTheLogThrows() throws Exception {
    logFailure = new OutOfMemoryError("for the test, of the logger");
    CountDownLatch ran = new CountDownLatch(1);
    try (HierarchicalWheelTimer timer = timer(TimeSource.system(), this::remember)) {
      timer.newTimeout(
          timeout -> {
            throw death;
          },
          0,
          TimeUnit.NANOSECONDS);
      timer.newTimeout(timeout -> ran.countDown(), 5, TimeUnit.MILLISECONDS);
      ran.await();
    }
  }

  /** The warning of too many timers precedes the loop, and must not end the timer thread. */
  @Test
  void warningThatCannotBeLoggedDoesNotEndTheThread() throws Exception {
    warned().set(false);
    logFailure = new OutOfMemoryError("for the test, of the logger");
    List<HierarchicalWheelTimer> timers = new ArrayList<>();
    try {
      for (int i = 0; i <= Worker.LIVE_LIMIT; i++) {
        HierarchicalWheelTimer timer = timer(TimeSource.system(), this::remember);
        timers.add(timer);
        CountDownLatch ran = new CountDownLatch(1);
        timer.newTimeout(timeout -> ran.countDown(), 0, TimeUnit.NANOSECONDS);
        assertThat(ran.await(10, TimeUnit.SECONDS)).as("timer %s runs its task", i).isTrue();
      }
      assertThat(logged).hasSize(1);
    } finally {
      timers.forEach(timer -> timer.stop(Duration.ofMillis(100)));
    }
  }

  // The thread cannot begin

  @Test
  void factoryThatThrowsIsReportedWhenTheTimerIsMade() {
    assertThatThrownBy(
            () ->
                timer(
                    TimeSource.system(),
                    worker -> {
                      throw death;
                    }))
        .isSameAs(death);
  }

  @Test
  void factoryThatReturnsNullIsReportedWhenTheTimerIsMade() {
    assertThatNullPointerException()
        .isThrownBy(() -> timer(TimeSource.system(), worker -> null))
        .withMessageContaining("threadFactory");
  }

  @Test
  void threadThatWasStartedBeforeIsReportedWhenTheTimerIsMade() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> timer(TimeSource.system(), worker -> Thread.currentThread()))
        .withMessageContaining("threadFactory");
  }

  @Test
  void failedThreadStartRefusesTimeoutsAndIsRetried() throws Exception {
    CountDownLatch ran = new CountDownLatch(1);
    try (HierarchicalWheelTimer timer =
        timer(TimeSource.system(), worker -> new Unstartable(worker, 1))) {
      assertThatExceptionOfType(OutOfMemoryError.class)
          .isThrownBy(() -> timer.newTimeout(NOTHING, 1, TimeUnit.MILLISECONDS));
      assertThat(timer.stats().started()).isZero();

      timer.newTimeout(timeout -> ran.countDown(), 1, TimeUnit.MILLISECONDS);
      ran.await();
    }
  }

  @Test
  void timerWhoseThreadCouldNotBeStartedStopsAtOnce() {
    HierarchicalWheelTimer timer =
        timer(TimeSource.system(), worker -> new Unstartable(worker, Integer.MAX_VALUE));
    assertThatExceptionOfType(OutOfMemoryError.class)
        .isThrownBy(() -> timer.newTimeout(NOTHING, 1, TimeUnit.MILLISECONDS));

    assertThat(timer.stop(Duration.ofDays(1))).isEmpty();
  }

  /** The factory's thread runs other code, or ends before it runs the timer. */
  @Test
  void threadThatEndsWithoutRunningTheTimerFailsTheTimer() throws Exception {
    HierarchicalWheelTimer timer =
        timer(TimeSource.system(), worker -> remember(this::forgetTheWorker));
    timer.newTimeout(NOTHING, 1, TimeUnit.MILLISECONDS); // the thread may yet run it
    letItDie();

    assertThatIllegalStateException()
        .isThrownBy(() -> timer.newTimeout(NOTHING, 1, TimeUnit.MILLISECONDS))
        .withMessage("the timer has failed and runs no more tasks");
    assertThat(timer.pendingTimeouts()).isEqualTo(1);
    assertThat(timer.stop(Duration.ofDays(1))).hasSize(1);
  }

  private Thread remember(Runnable worker) {
    thread = new Thread(worker);
    thread.setUncaughtExceptionHandler((died, e) -> uncaught = e);
    return thread;
  }

  private void forgetTheWorker() {
    try {
      mayDie.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void letItDie() throws InterruptedException {
    mayDie.countDown();
    thread.join();
  }

  private static HierarchicalWheelTimer timer(TimeSource timeSource, ThreadFactory threadFactory) {
    return HierarchicalWheelTimer.builder()
        .stripes(1)
        .timeSource(timeSource)
        .threadFactory(threadFactory)
        .build();
  }

  private static AtomicBoolean warned() {
    try {
      return (AtomicBoolean)
          MethodHandles.privateLookupIn(Worker.class, MethodHandles.lookup())
              .findStaticGetter(Worker.class, "WARNED", AtomicBoolean.class)
              .invoke();
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  /**
   * A stopped clock that kills the timer thread, the only thread that parks, once the test permits
   * it.
   */
  private final class DyingClock implements TimeSource {
    private final boolean whileParking;
    private volatile boolean dying;

    DyingClock(boolean whileParking) {
      this.whileParking = whileParking;
    }

    @Override
    public long nanoTime() {
      if (dying && Thread.currentThread() == thread) {
        throw death;
      }
      return 0;
    }

    @Override
    public void parkUntil(long deadlineNanos, Object blocker) {
      try {
        mayDie.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      if (whileParking) {
        throw death;
      }
      dying = true;
    }
  }

  /** A thread that the system cannot start at first. */
  private static final class Unstartable extends Thread {
    private final AtomicInteger failures;

    Unstartable(Runnable worker, int failures) {
      super(worker);
      this.failures = new AtomicInteger(failures);
    }

    @Override
    public synchronized void start() {
      if (failures.getAndDecrement() > 0) {
        throw new OutOfMemoryError("unable to create native thread");
      }
      super.start();
    }
  }
}
