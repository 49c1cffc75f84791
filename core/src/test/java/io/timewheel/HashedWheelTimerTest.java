// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.timewheel.testing.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the constructors of Netty's and Dubbo's timer, their defaults and their checks. */
class HashedWheelTimerTest {
  private static final TimeUnit MILLIS = TimeUnit.MILLISECONDS;

  private final List<Thread> made = new ArrayList<>();
  private final ThreadFactory factory =
      runnable -> {
        Thread thread = new Thread(runnable, "made here");
        made.add(thread);
        return thread;
      };

  @Test
  void everyConstructorMakesATimerThatRuns() {
    List<Supplier<HashedWheelTimer>> constructors =
        List.of(
            HashedWheelTimer::new,
            () -> new HashedWheelTimer(1, MILLIS),
            () -> new HashedWheelTimer(1, MILLIS, 8),
            () -> new HashedWheelTimer(factory),
            () -> new HashedWheelTimer(factory, 1, MILLIS),
            () -> new HashedWheelTimer(factory, 1, MILLIS, 8),
            () -> new HashedWheelTimer(factory, 1, MILLIS, 8, 1),
            () -> new HashedWheelTimer(factory, 1, MILLIS, 8, 0, Runnable::run),
            () -> HashedWheelTimer.builder().tick(Duration.ofMillis(1)).build());
    for (Supplier<HashedWheelTimer> constructor : constructors) {
      RecordingTask task = new RecordingTask(TimeSource.system());
      try (HashedWheelTimer timer = constructor.get()) {
        timer.newTimeout(task, 1, MILLIS);
        task.awaitRun();
      }
    }
    assertThat(made).hasSize(5);
    made.forEach(Await::end);
  }

  @Test
  void longestConstructorSetsLimitAndExecutor() {
    List<Runnable> handedOff = new ArrayList<>();
    HashedWheelTimer timer = new HashedWheelTimer(factory, 1, TimeUnit.HOURS, 8, 1, handedOff::add);
    timer.newTimeout(timeout -> {}, 1, MILLIS);

    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> timer.newTimeout(timeout -> {}, 1, MILLIS))
        .withMessage("pending timeouts: 1 (expected: less than maxPendingTimeouts, 1)");

    assertThat(timer.stop()).hasSize(1);
    assertThat(handedOff).isEmpty();
  }

  @Test
  void defaultTickIs100Millis() {
    TestClock clock = new TestClock();
    RecordingTask task = new RecordingTask(clock);
    try (HashedWheelTimer timer = HashedWheelTimer.builder().timeSource(clock).build()) {
      timer.newTimeout(task, 101, MILLIS);
      clock.awaitSleepUntil(Duration.ofMillis(200));
      clock.advance(Duration.ofMillis(200));
      task.awaitRun();
    }
  }

  @Test
  @Tag("promise-28")
  void threadIsADaemonWithTheNameOfTheTimer() {
    RecordingTask task = new RecordingTask(TimeSource.system());
    try (HashedWheelTimer timer =
        HashedWheelTimer.builder()
            .name("wheels within wheels")
            .tick(Duration.ofMillis(1))
            .build()) {
      timer.newTimeout(task, 1, MILLIS);
      task.awaitRun();
    }
    Thread thread = task.threads.remove();
    assertThat(thread.isDaemon()).isTrue();
    assertThat(thread.getName()).isEqualTo("wheels within wheels");
    Await.end(thread);
  }

  @Test
  @Tag("promise-28")
  void threadIsMadeAtOnceAndStartedByTheFirstTimeout() {
    HashedWheelTimer timer = new HashedWheelTimer(factory);
    assertThat(made).hasSize(1);
    assertThat(timer.pendingTimeouts()).isZero();
    assertThat(timer.stats().started()).isZero();
    assertThat(made.get(0).getState()).isEqualTo(Thread.State.NEW);

    timer.newTimeout(timeout -> {}, 1, TimeUnit.DAYS);
    assertThat(made.get(0).isAlive()).isTrue();

    timer.stop();
    Await.end(made.get(0));
  }

  @Test
  void refusesAThreadThatIsAlreadyStarted() {
    assertThatNullPointerException()
        .isThrownBy(() -> new HashedWheelTimer((ThreadFactory) null))
        .withMessage("threadFactory");
    assertThatNullPointerException()
        .isThrownBy(() -> new HashedWheelTimer(runnable -> null))
        .withMessage("the threadFactory returned null");

    Thread ended = new Thread(() -> {}, "ended");
    ended.start();
    Await.end(ended);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HashedWheelTimer(runnable -> ended))
        .withMessageStartingWith("threadFactory: returned Thread[")
        .withMessageEndingWith(", TERMINATED (expected: not started)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HashedWheelTimer(runnable -> Thread.currentThread()))
        .withMessageEndingWith(", RUNNABLE (expected: not started)");
  }

  @Test
  void rethrowsTheExceptionOfTheThreadFactory() {
    IllegalStateException thrown = new IllegalStateException("no threads today");

    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                new HashedWheelTimer(
                    runnable -> {
                      throw thrown;
                    }))
        .isSameAs(thrown);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE, Long.MAX_VALUE})
  void tickMustBePositiveAndAtMostADay(long tickDuration) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HashedWheelTimer(tickDuration, TimeUnit.SECONDS))
        .withMessage(
            "tickDuration: "
                + tickDuration
                + " SECONDS (expected: more than zero, at most one day)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HashedWheelTimer(factory, tickDuration, TimeUnit.DAYS));
    assertThat(made).isEmpty();
  }

  @Test
  void tickMayBeANanosecondOrADay() {
    new HashedWheelTimer(1, TimeUnit.NANOSECONDS).stop();
    new HashedWheelTimer(1, TimeUnit.DAYS).stop();
    assertThatIllegalArgumentException().isThrownBy(() -> new HashedWheelTimer(25, TimeUnit.HOURS));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, Integer.MIN_VALUE, (1 << 20) + 1, 1 << 30, Integer.MAX_VALUE})
  @Tag("promise-30")
  void ticksPerWheelMustBePositiveAndNotAbsurd(int ticksPerWheel) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HashedWheelTimer(1, MILLIS, ticksPerWheel))
        .withMessage("ticksPerWheel: " + ticksPerWheel + " (expected: 1 to 1048576)");
  }

  /** A wheel of one slot is one list: slow, but correct. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 63, 64, 65, 1_000})
  void ticksPerWheelMayBeAnyNumberInBetween(int ticksPerWheel) {
    TestClock clock = new TestClock();
    RecordingTask task = new RecordingTask(clock);
    try (HashedWheelTimer timer =
        HashedWheelTimer.builder()
            .timeSource(clock)
            .tick(Duration.ofMillis(1))
            .ticksPerWheel(ticksPerWheel)
            .build()) {
      timer.newTimeout(task, 1, MILLIS);
      timer.newTimeout(task, 1_500, MILLIS);
      clock.awaitSleepUntil(Duration.ofMillis(1));
      clock.advance(Duration.ofMillis(1));
      clock.awaitSleepUntil(Duration.ofMillis(1_500));
      clock.advance(Duration.ofMillis(1_499));
      task.awaitRuns(2);
    }
    assertThat(task.ranAtNanos).containsExactly(1_000_000L, 1_500_000_000L);
  }

  @Test
  void nullArgumentsAreNamed() {
    assertThatNullPointerException()
        .isThrownBy(() -> new HashedWheelTimer(1, null))
        .withMessage("unit");
    assertThatNullPointerException()
        .isThrownBy(() -> new HashedWheelTimer(factory, 1, null, 8))
        .withMessage("unit");
    assertThatNullPointerException()
        .isThrownBy(() -> new HashedWheelTimer(null, 1, MILLIS, 8, 0))
        .withMessage("threadFactory");
    assertThatNullPointerException()
        .isThrownBy(() -> new HashedWheelTimer(factory, 1, MILLIS, 8, 0, null))
        .withMessage("executor");
    try (HashedWheelTimer timer = new HashedWheelTimer()) {
      assertThatNullPointerException()
          .isThrownBy(() -> timer.newTimeout(null, 1, MILLIS))
          .withMessage("task");
      assertThatNullPointerException()
          .isThrownBy(() -> timer.newTimeout(timeout -> {}, 1, null))
          .withMessage("unit");
      assertThatNullPointerException()
          .isThrownBy(() -> timer.newTimeout(timeout -> {}, null))
          .withMessage("delay");
    }
  }
}
