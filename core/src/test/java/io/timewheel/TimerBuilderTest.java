// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests the checks of builders, and their messages: the argument, its value and the expected range.
 */
class TimerBuilderTest {

  static Stream<TimerBuilder<?>> builders() {
    return Stream.of(
        HashedWheelTimer.builder(), HierarchicalWheelTimer.builder(), PolledTimer.builder());
  }

  @ParameterizedTest
  @MethodSource("builders")
  void nullIsRefused(TimerBuilder<?> builder) {
    refusesNull("tick", () -> builder.tick(null));
    refusesNull("executor", () -> builder.executor(null));
    refusesNull("onRejected", () -> builder.onRejected(null));
    refusesNull("onError", () -> builder.onError(null));
    refusesNull("timeSource", () -> builder.timeSource(null));
    refusesNull("listener", () -> builder.listener(null));
    if (builder instanceof WheelTimer.Builder<?> withThread) {
      refusesNull("name", () -> withThread.name(null));
      refusesNull("threadFactory", () -> withThread.threadFactory(null));
    }
  }

  private static void refusesNull(String argument, ThrowingCallable call) {
    assertThatNullPointerException().isThrownBy(call).withMessage(argument);
  }

  @ParameterizedTest
  @MethodSource("builders")
  @Tag("promise-30")
  void tickMustBePositiveAndAtMostADay(TimerBuilder<?> builder) {
    refusesTick(builder, Duration.ZERO, "PT0S");
    refusesTick(builder, Duration.ofNanos(-1), "PT-0.000000001S");
    refusesTick(builder, Duration.ofDays(1).plusNanos(1), "PT24H0.000000001S");
    refusesTick(
        builder, Duration.ofSeconds(Long.MAX_VALUE), Duration.ofSeconds(Long.MAX_VALUE) + "");

    builder.tick(Duration.ofNanos(1));
    assertThat(builder.tickNanos).isEqualTo(1);
    builder.tick(Duration.ofDays(1));
    assertThat(builder.tickNanos).isEqualTo(Duration.ofDays(1).toNanos());
  }

  private static void refusesTick(TimerBuilder<?> builder, Duration tick, String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.tick(tick))
        .withMessage("tick: " + text + " (expected: more than zero, at most PT24H)");
  }

  @ParameterizedTest
  @CsvSource({"0", "-1", "257", "-2147483648", "2147483647"})
  void stripesMustBeFromOneTo256(int stripes) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> HierarchicalWheelTimer.builder().stripes(stripes))
        .withMessage("stripes: " + stripes + " (expected: 1 to 256)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> HashedWheelTimer.builder().stripes(stripes));
  }

  /** Any number of stripes works, because the next power of two does. */
  @ParameterizedTest
  @CsvSource({"1", "2", "3", "5", "64", "255", "256"})
  void stripesMayBeAnyNumberInBetween(int stripes) {
    TestClock clock = new TestClock();
    RecordingTask task = new RecordingTask(clock);
    PolledTimer owner = PolledTimer.create();
    int roundedUp = WheelTimer.Builder.ceilingPowerOfTwo(stripes);
    Engine engine =
        new Engine(
            owner,
            PolledTimer.builder().timeSource(clock),
            roundedUp,
            false,
            HierarchicalWheel::new);
    Concurrently.run(8, thread -> () -> engine.start(task, 1, TimeUnit.MILLISECONDS));
    clock.advance(Duration.ofMillis(1));

    assertThat(roundedUp)
        .isBetween(stripes, 2 * stripes - 1)
        .matches(n -> Integer.bitCount(n) == 1);
    assertThat(engine.runDue(Integer.MAX_VALUE)).isEqualTo(8);
    HierarchicalWheelTimer.builder().stripes(stripes).build().stop();
  }

  @Test
  void ticksPerWheelRoundsUpToAPowerOfTwo() {
    assertThat(WheelTimer.Builder.ceilingPowerOfTwo(1)).isEqualTo(1);
    assertThat(WheelTimer.Builder.ceilingPowerOfTwo(2)).isEqualTo(2);
    assertThat(WheelTimer.Builder.ceilingPowerOfTwo(3)).isEqualTo(4);
    assertThat(WheelTimer.Builder.ceilingPowerOfTwo(513)).isEqualTo(1_024);
    assertThat(WheelTimer.Builder.ceilingPowerOfTwo(HashedWheel.MAX_SLOTS))
        .isEqualTo(HashedWheel.MAX_SLOTS);
  }

  @Test
  void eachTimerHasTheSettingsOfItsBuildCall() {
    HierarchicalWheelTimer.Builder builder = HierarchicalWheelTimer.builder().name("first");
    try (HierarchicalWheelTimer first = builder.build();
        HierarchicalWheelTimer second = builder.name("second").build()) {
      assertThat(first).hasToString("HierarchicalWheelTimer(first)");
      assertThat(second).hasToString("HierarchicalWheelTimer(second)");
    }
  }

  @Test
  void timersWithoutANameAreNumbered() {
    try (HierarchicalWheelTimer timer = HierarchicalWheelTimer.create()) {
      assertThat(timer.toString()).matches("HierarchicalWheelTimer\\(timewheel-\\d+\\)");
    }
  }
}
