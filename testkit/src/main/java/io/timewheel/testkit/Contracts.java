// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.function.Executable;

/** The constants, steps and assertions that the tests of the contract share. */
final class Contracts {
  static final Duration TICK = millis(1);

  /** Longer than any test may take. */
  static final Duration LONG = Duration.ofMinutes(10);

  /** A fixed seed makes a failure repeatable. */
  static final long SEED = 20_260_101;

  private Contracts() {}

  static Duration millis(long millis) {
    return Duration.ofMillis(millis);
  }

  static Duration micros(long micros) {
    return Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(micros));
  }

  static Timeout startIn(Timer timer, Duration delay, TimerTask task) {
    Timeout timeout = timer.newTimeout(task, delay);
    assertNotNull(timeout, "newTimeout() returned null");
    return timeout;
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  static <T extends Throwable> void sneakyThrow(Throwable error) throws T {
    throw (T) error;
  }

  static void assertPending(Timeout timeout) {
    assertState(timeout, false, false, 0, 0);
  }

  static void assertRan(Timeout timeout) {
    assertState(timeout, true, false, 1, 0);
  }

  static void assertCancelled(Timeout timeout) {
    assertState(timeout, false, true, 0, 1);
  }

  private static void assertState(
      Timeout timeout, boolean expired, boolean cancelled, int runs, int cancellations) {
    assertEquals(expired, timeout.isExpired(), () -> "isExpired() of " + timeout);
    assertEquals(cancelled, timeout.isCancelled(), () -> "isCancelled() of " + timeout);
    if (timeout.task() instanceof Probe probe) {
      assertEquals(runs, probe.runs(), () -> "runs of the task of " + timeout);
      assertEquals(cancellations, probe.cancellations(), () -> "cancelled() calls of " + timeout);
      assertTrue(
          runs + cancellations == 0 || probe.given() == timeout, "called with another timeout");
    }
  }

  /** Asserts that a call is refused, with a message that contains the invalid argument. */
  static void assertRefused(
      Class<? extends RuntimeException> type, Executable call, String... named) {
    RuntimeException refusal = assertThrows(type, call);
    String message = String.valueOf(refusal.getMessage());
    for (String name : named) {
      assertTrue(message.contains(name), () -> "\"" + message + "\" names " + name);
    }
  }

  static void assertStopped(Timer timer) {
    assertTrue(timer.isStopped(), "isStopped()");
    assertRefused(
        IllegalStateException.class, () -> timer.newTimeout(new Probe(), 1, TimeUnit.MILLISECONDS));
  }

  /** The exception that the tests throw. It has no stack trace, because it may be logged. */
  @SuppressWarnings("serial")
  static final class Silent extends RuntimeException {
    Silent(String message) {
      super("expected by a test: thrown by " + message, null, false, false);
    }
  }
}
