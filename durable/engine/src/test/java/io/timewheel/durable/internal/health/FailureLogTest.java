// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.health;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Verifies the bounds of stack traces, and the place of a failure. */
class FailureLogTest {
  private static int fail(int depth) {
    if (depth > 0) {
      return fail(depth - 1) + 1;
    }
    throw new IllegalStateException("no luck", new RuntimeException("cause"));
  }

  private static Throwable thrownBy(Runnable work) {
    try {
      work.run();
      throw new AssertionError("nothing was thrown");
    } catch (RuntimeException e) {
      return e;
    }
  }

  @Test
  void aTraceHasTwentyLines() {
    String trace = FailureLog.trace(thrownBy(() -> fail(500)));
    assertThat(trace.lines())
        .hasSize(20)
        .startsWith("java.lang.IllegalStateException: no luck")
        .element(1)
        .asString()
        .startsWith("\tat ")
        .contains("FailureLogTest.fail(FailureLogTest.java:");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "ä", "☃", "\ud83d\ude00"})
  void aTraceHasFourKilobytes(String letter) {
    String trace = FailureLog.trace(new IllegalStateException(letter.repeat(100_000)));
    assertThat(trace.getBytes(UTF_8)).hasSizeBetween(4_090, 4_096);
  }

  @Test
  void anExceptionWithoutAStackTraceHasNone() {
    Throwable bare = new RuntimeException("bare", null, false, false) {};
    assertThat(FailureLog.trace(bare)).isNull();
    assertThat(FailureLog.place(bare)).isNull();
  }

  private static StackTraceElement frame(String type, String method) {
    return new StackTraceElement(type, method, "File.java", 7);
  }

  private static StackTraceElement placeOf(StackTraceElement... frames) {
    Exception error = new Exception();
    error.setStackTrace(frames);
    return FailureLog.place(error);
  }

  @Test
  void thePlaceIsTheInnermostFrameInTheClassThatTheEngineCalls() {
    StackTraceElement place = frame("com.acme.Orders$Step", "check");
    assertThat(
            placeOf(
                frame("java.util.Objects", "requireNonNull"),
                frame("com.acme.Prices", "of"),
                place,
                frame("com.acme.Orders", "cancel"),
                frame("com.acme.Orders$$SpringCGLIB$$0", "cancel"),
                frame("java.lang.reflect.Method", "invoke"),
                frame("io.timewheel.spring.boot.OnTimerMethod", "invoke"),
                frame("io.timewheel.durable.internal.attempt.AttemptRun", "attempt"),
                frame("com.acme.Executor", "run")))
        .isEqualTo(place);
  }

  @Test
  void thePlaceMayCallTheEngineAndBeOnAThreadOfTheApplication() {
    StackTraceElement place = frame("com.acme.Orders", "cancel");
    assertThat(
            placeOf(
                frame("io.timewheel.durable.internal.commit.Waiting", "get"),
                frame("io.timewheel.durable.DurableTimer", "schedule"),
                place,
                frame("java.lang.Thread", "run")))
        .isEqualTo(place);
    assertThat(placeOf(frame("io.timewheel.durable.internal.attempt.AttemptRun", "attempt")))
        .isNull();
  }
}
