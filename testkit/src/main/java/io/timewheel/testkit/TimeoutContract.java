// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static io.timewheel.testkit.Contracts.assertPending;
import static io.timewheel.testkit.Contracts.assertRan;
import static io.timewheel.testkit.Contracts.assertRefused;
import static io.timewheel.testkit.Contracts.millis;
import static io.timewheel.testkit.Contracts.startIn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The contract of the getters of timers and timeouts, and of invalid arguments. */
interface TimeoutContract extends TimeScript {
  @Test
  default void aTimeoutReturnsItsTimerAndItsTask() {
    Timer timer = timer();
    Probe probe = new Probe();
    Timeout timeout = startIn(timer, millis(1), probe);
    assertSame(timer, timeout.timer());
    assertSame(probe, timeout.task());
    advanceUntil(millis(1));
    assertSame(timeout, probe.given());
    assertSame(timer, timeout.timer());
  }

  @Test
  default void remainingCountsDownToTheDeadlineAndOn() {
    Timer timer = timer();
    Timeout timeout = startIn(timer, millis(1_500), new Probe());
    assertEquals(1_500, timeout.remaining(TimeUnit.MILLISECONDS));
    assertEquals(1, timeout.remaining(TimeUnit.SECONDS));
    advanceUntil(millis(501));
    assertEquals(999, timeout.remaining(TimeUnit.MILLISECONDS));
    assertEquals(0, timeout.remaining(TimeUnit.SECONDS));
    advanceUntil(millis(1_500));
    assertEquals(0, timeout.remaining(TimeUnit.NANOSECONDS));
    advanceUntil(millis(3_499));
    assertEquals(-1_999_000_000, timeout.remaining(TimeUnit.NANOSECONDS));
    assertEquals(-1, timeout.remaining(TimeUnit.SECONDS));
    assertTrue(
        startIn(timer, Duration.ofSeconds(Long.MAX_VALUE), new Probe()).remaining(TimeUnit.DAYS)
            > 365 * 290);
  }

  @Test
  @SuppressWarnings("NullAway") // passing null is the purpose of the test
  @Tag("promise-30")
  default void nullIsRefusedByNameAndLeavesNothingBehind() {
    Timer timer = timer();
    Probe probe = new Probe();
    Class<NullPointerException> type = NullPointerException.class;
    assertRefused(type, () -> timer.newTimeout(null, 1, TimeUnit.SECONDS), "task");
    assertRefused(type, () -> timer.newTimeout(null, Duration.ZERO), "task");
    assertRefused(type, () -> timer.newTimeout(probe, 1, null), "unit");
    assertRefused(type, () -> timer.newTimeout(probe, null), "delay");
    assertRefused(type, () -> timer.stop(null), "shutdownTimeout");
    assertEquals(0, timer.stats().started());
    assertEquals(0, timer.pendingTimeouts());

    Timeout timeout = startIn(timer, millis(5), probe);
    assertRefused(type, () -> timeout.reschedule(1, null), "unit");
    assertRefused(type, () -> timeout.reschedule(null), "delay");
    assertRefused(type, () -> timeout.remaining(null), "unit");
    assertPending(timeout);
    advanceUntil(millis(5));
    assertRan(timeout);
  }
}
