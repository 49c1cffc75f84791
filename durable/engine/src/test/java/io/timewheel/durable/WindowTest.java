// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static io.timewheel.durable.Scene.spec;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.StoreTraits;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Verifies that a window contains only timers of the near future, up to its limit. */
class WindowTest {
  private final Scene scene = new Scene(builder -> builder.maxWindow(64));

  // Window

  @Test
  @Tag("promise-47")
  void holdsNoMoreThanItsCap() {
    for (int i = 0; i < 1_000; i++) {
      scene.scheduler.schedule(spec("t" + i).after(Duration.ofMillis(10 + i % 7)));
      assertThat(scene.scheduler.stats().window()).isLessThanOrEqualTo(64);
    }
    scene.advance(100);
    assertThat(scene.fired).hasSize(1_000).doesNotHaveDuplicates();
    assertThat(scene.scheduler.stats().window()).isZero();
  }

  @Test
  void keepsTheFarFutureInTheStore() {
    for (int i = 0; i < 100; i++) {
      scene.scheduler.schedule(spec("t" + i).after(Duration.ofDays(365)));
    }
    scene.advance(10_000);
    assertThat(scene.scheduler.stats().window()).isZero();
  }

  @Test
  void readsTheWallClockAfterAJump() {
    scene.scheduler.schedule(spec("a").after(Duration.ofSeconds(50)));
    scene.kit.skew(scene.scheduler, Duration.ofSeconds(40));
    scene.advance(11_000);
    assertThat(scene.fired).hasSize(1);
    scene.kit.skew(scene.scheduler, Duration.ofHours(-1));
    scene.advance(2_000);
    scene.scheduler.schedule(spec("b").after(Duration.ofSeconds(5)));
    scene.advance(6_000);
    assertThat(scene.fired).hasSize(2);
  }

  @Test
  void isNotEarlyAfterATakeOverOfAClaimAhead() {
    Scene scene =
        new Scene(
            new StoreTraits(1, 1, 100, Duration.ofMinutes(1), Duration.ofSeconds(2), Duration.ZERO),
            builder -> {});
    scene.scheduler.schedule(spec("a").after(Duration.ofSeconds(5)));
    scene.advance(4_000);
    assertThat(scene.state("a")).isEqualTo(TimerState.RUNNING);
    scene.restart();
    assertThat(scene.fired).isEmpty();
    scene.advance(5_000);
    assertThat(scene.fired).containsExactly("a@5000");
  }
}
