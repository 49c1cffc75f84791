// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.testing.Await;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the default timer. */
class HierarchicalWheelTimerTest {
  private final TestClock clock = new TestClock();
  private final RecordingTask task = new RecordingTask(clock);

  @Test
  void createdTimerRuns() {
    RecordingTask real = new RecordingTask(TimeSource.system());
    try (HierarchicalWheelTimer timer = HierarchicalWheelTimer.create()) {
      timer.newTimeout(real, 1, TimeUnit.MILLISECONDS);
      real.awaitRun();
    }
    assertThat(real.threads).allMatch(Thread::isDaemon);
    real.threads.forEach(Await::end);
  }

  @Test
  void defaultTickIsOneMilli() {
    try (HierarchicalWheelTimer timer = timer().build()) {
      timer.newTimeout(task, 1_001, TimeUnit.MICROSECONDS);
      clock.awaitSleepUntil(Duration.ofMillis(2));
      clock.advance(Duration.ofMillis(2));
      task.awaitRun();
    }
  }

  /** From a tick to centuries, without a setting. */
  @Test
  void delaysMayBeOfAnyLength() {
    try (HierarchicalWheelTimer timer = timer().build()) {
      Duration passed = Duration.ZERO;
      for (Duration delay :
          new Duration[] {
            Duration.ofMillis(1),
            Duration.ofSeconds(1),
            Duration.ofHours(1),
            Duration.ofDays(1),
            Duration.ofDays(365),
            Duration.ofDays(100 * 365)
          }) {
        Timeout timeout = timer.newTimeout(task, delay);
        passed = passed.plus(delay);
        clock.awaitSleepUntil(passed);
        clock.advance(delay);
        Await.until("expiry", timeout::isExpired);
      }
      task.awaitRuns(6);
      assertThat(timer.stats().maxLagNanos()).isZero();
    }
  }

  /** With one stripe, timeouts of the same tick fire in the order in which they were started. */
  @Test
  void oneStripeKeepsTheOrderOfTheSameTick() {
    try (HierarchicalWheelTimer timer = timer().stripes(1).build()) {
      Timeout[] started = new Timeout[200];
      for (int i = 0; i < started.length; i++) {
        started[i] = timer.newTimeout(task, 5, TimeUnit.MILLISECONDS);
      }
      clock.advance(Duration.ofMillis(5));
      task.awaitRuns(started.length);
      assertThat(task.ran).containsExactly(started);
    }
  }

  @Test
  void timersAreIndependent() {
    try (HierarchicalWheelTimer one = timer().build();
        HierarchicalWheelTimer other = timer().build()) {
      Timeout first = one.newTimeout(task, 1, TimeUnit.MILLISECONDS);
      Timeout second = other.newTimeout(task, 2, TimeUnit.MILLISECONDS);
      assertThat(first.timer()).isSameAs(one);
      assertThat(second.timer()).isSameAs(other);

      assertThat(one.stop()).containsExactly(first);
      clock.awaitSleepUntil(Duration.ofMillis(2));
      clock.advance(Duration.ofMillis(2));
      task.awaitRun();
      assertThat(task.ran).containsExactly(second);
    }
  }

  private HierarchicalWheelTimer.Builder timer() {
    return HierarchicalWheelTimer.builder().timeSource(clock);
  }
}
