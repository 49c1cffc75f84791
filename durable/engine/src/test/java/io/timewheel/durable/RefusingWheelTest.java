// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.StoreTraits;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Verifies a wheel that refuses entries: they are read again, and none is lost. */
class RefusingWheelTest extends OnStand {
  @Test
  void firesAllTimersIfTheWheelIsFull() {
    stand = new Stand(4);
    start();
    for (int i = 0; i < 200; i++) {
      scheduler.schedule(spec("t" + i).after(Duration.ofMillis(i * 53L)));
    }
    advance(15_000);
    assertThat(fired).hasSize(200).doesNotHaveDuplicates();
    assertThat(lags)
        .allSatisfy(lag -> assertThat(lag).isBetween(Duration.ZERO, Duration.ofMillis(1_020)));
    assertThat(stand.manual.pendingTimeouts()).isEqualTo(1); // the maintenance tick
  }

  @Test
  void readsTimersAgainThatTheWheelRefusedForLackOfMemory() {
    start();
    stand.wheel.refusal = new OutOfMemoryError("no room for another timeout");
    scheduler.schedule(spec("a").after(Duration.ofSeconds(5)));
    stand.wheel.refusal = null;
    advance(5_000);
    assertThat(fired).containsExactly("a");
  }

  @Test
  void waitsForTheWallClockIfTheWheelRefusesTheTimer() {
    start();
    scheduler.schedule(spec("a").after(Duration.ofSeconds(5)));
    stand.skew = Duration.ofSeconds(-3);
    stand.wheel.refusal = new RejectedExecutionException("full");
    advance(5_500);
    assertThat(fired).isEmpty();
    advance(3_500);
    assertThat(fired).containsExactly("a");
  }

  @Test
  void beginsAnAttemptClaimedAheadIfTheWheelRefusesIt() {
    store =
        InMemoryTimerStore.create(
            new StoreTraits(
                1, 1, 100, Duration.ofMinutes(1), Duration.ofSeconds(2), Duration.ZERO));
    start();
    scheduler.schedule(spec("a").after(Duration.ofSeconds(5)));
    scheduler.schedule(spec("b").after(Duration.ofSeconds(6)));
    stand.wheel.refusal = new RejectedExecutionException("full");
    advance(4_990);
    assertThat(fired).isEmpty();
    advance(3_000);
    assertThat(fired).containsExactly("a", "b");
    assertThat(timer("b").state()).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void runsWithoutATimeoutWhileTheWheelRefusesIt() {
    start();
    stand.wheel.refusal = new RejectedExecutionException("full");
    scheduler.schedule(spec("a").after(Duration.ZERO));
    scheduler.schedule(spec("b").after(Duration.ZERO));
    stand.settle();
    assertThat(fired).containsExactly("a", "b");
    assertThat(timer("b").state()).isEqualTo(TimerState.COMPLETED);
  }
}
