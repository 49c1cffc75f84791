// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static io.timewheel.testkit.Contracts.TICK;
import static io.timewheel.testkit.Contracts.assertPending;
import static io.timewheel.testkit.Contracts.assertRan;
import static io.timewheel.testkit.Contracts.millis;
import static io.timewheel.testkit.Contracts.startIn;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The contract of delays: the tick at which each fires. */
interface DelayContract extends TimeScript {
  @Test
  @Tag("promise-3")
  default void waitsForTheNextTickIfItsDeadlineIsBetweenTwo() {
    Timer timer = timer(settings().withTick(millis(10)));
    Timeout timeout = startIn(timer, millis(14), new Probe());
    advanceUntil(millis(20).minusNanos(1));
    assertPending(timeout);
    advanceUntil(millis(20));
    assertRan(timeout);
  }

  @Test
  @Tag("promise-1")
  default void countsTheDelayFromTheCallAndNotFromTheTick() {
    Timer timer = timer(settings().withTick(millis(10)));
    advanceUntil(millis(25));
    Timeout onTick = startIn(timer, millis(5), new Probe());
    Timeout justAfter = startIn(timer, millis(5).plusNanos(1), new Probe());
    advanceUntil(millis(30));
    assertRan(onTick);
    assertPending(justAfter);
    advanceUntil(millis(40).minusNanos(1));
    assertPending(justAfter);
    advanceUntil(millis(40));
    assertRan(justAfter);
  }

  @Test
  @Tag("promise-4")
  default void zeroAndNegativeDelaysMeanTheNextTickAndNeverThisCall() {
    Timer timer = timer();
    long[] delays = {0, -1, -1_000_000, Long.MIN_VALUE};
    for (Duration begin : List.of(millis(0), millis(1), millis(5).plusNanos(1))) {
      advanceUntil(begin);
      List<Timeout> timeouts = new ArrayList<>();
      for (long delay : delays) {
        for (TimeUnit unit : TimeUnit.values()) {
          timeouts.add(timer.newTimeout(new Probe(), delay, unit));
        }
      }
      timeouts.add(timer.newTimeout(new Probe(), Duration.ZERO));
      timeouts.add(timer.newTimeout(new Probe(), Duration.ofSeconds(Long.MIN_VALUE)));
      timeouts.forEach(Contracts::assertPending);
      advanceBy(Duration.ZERO);
      timeouts.forEach(Contracts::assertPending);
      Duration nextTick = millis(begin.toMillis() + 1);
      advanceUntil(nextTick.minusNanos(1));
      timeouts.forEach(Contracts::assertPending);
      advanceUntil(nextTick);
      timeouts.forEach(Contracts::assertRan);
    }
  }

  @Test
  @Tag("promise-1")
  default void delaysAreInTheirUnit() {
    Timer timer = timer();
    for (TimeUnit unit : TimeUnit.values()) {
      Duration begin = elapsed();
      Duration delay = Duration.of(2, unit.toChronoUnit());
      Duration tick = millis(Math.max(1, delay.toMillis()));
      Timeout timeout = timer.newTimeout(new Probe(), 2, unit);
      Timeout same = timer.newTimeout(new Probe(), delay);
      advanceUntil(begin.plus(tick).minusNanos(1));
      assertPending(timeout);
      assertPending(same);
      advanceUntil(begin.plus(tick));
      assertRan(timeout);
      assertRan(same);
    }
  }

  @Test
  @Tag("promise-5")
  default void delaysBeyond292YearsNeverFire() {
    Timer timer = timer();
    advanceUntil(millis(1_500));
    List<Timeout> timeouts = new ArrayList<>();
    for (TimeUnit unit : TimeUnit.values()) {
      timeouts.add(timer.newTimeout(new Probe(), Long.MAX_VALUE, unit));
    }
    // The sum with the elapsed time overflows.
    timeouts.add(timer.newTimeout(new Probe(), Long.MAX_VALUE - 1, TimeUnit.NANOSECONDS));
    timeouts.add(timer.newTimeout(new Probe(), Duration.ofSeconds(Long.MAX_VALUE)));
    for (Duration moment :
        List.of(elapsed(), elapsed().plus(TICK), Duration.ofHours(1), Duration.ofDays(290 * 365))) {
      advanceUntil(moment);
      timeouts.forEach(Contracts::assertPending);
    }
    assertEquals(timeouts.size(), timer.pendingTimeouts());
  }

  @Test
  default void longDelaysAreExact() {
    Timer timer = timer();
    advanceUntil(millis(3));
    for (Duration delay :
        List.of(
            Duration.ofMinutes(1),
            Duration.ofHours(1),
            Duration.ofDays(1),
            Duration.ofDays(365),
            Duration.ofDays(100 * 365))) {
      Duration begin = elapsed();
      Timeout timeout = startIn(timer, delay, new Probe());
      advanceUntil(begin.plus(delay).minusNanos(1));
      assertPending(timeout);
      advanceUntil(begin.plus(delay));
      assertRan(timeout);
    }
  }
}
