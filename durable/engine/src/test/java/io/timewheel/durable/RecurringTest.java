// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static io.timewheel.durable.Scene.spec;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.Handler;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Verifies recurring timers: their runs, missed runs, and runs by hand. */
class RecurringTest {
  private static final Instant START = DurableTestkit.START;

  private static final Handler FAILS =
      firing -> {
        throw new IllegalStateException("no luck");
      };

  private final Scene scene = new Scene();

  // Recurring

  @Test
  void recursAtAFixedRate() {
    scene.timer.schedule(spec("a").every(Duration.ofSeconds(10)));
    scene.advance(35_000);
    assertThat(scene.fired).containsExactly("a@10000", "a@20000", "a@30000");
    assertThat(scene.timer.schedule(spec("a").every(Duration.ofSeconds(10))).outcome())
        .isEqualTo(ScheduleResult.Outcome.UNCHANGED);
    assertThat(scene.timer.get("shop", "a").orElseThrow().next(2))
        .containsExactly(START.plusSeconds(40), START.plusSeconds(50));
  }

  @Test
  void appliesTheRuleForMissedRuns() {
    scene.timer.schedule(spec("once").every(Duration.ofMinutes(10)));
    scene.timer.schedule(spec("all").every(Duration.ofMinutes(10)).missed(MissedRuns.FIRE_ALL));
    scene.timer.schedule(spec("skip").every(Duration.ofMinutes(10)).missed(MissedRuns.SKIP));
    scene.kill();
    scene.advance(35 * 60_000);
    scene.reopen();
    scene.kit.settle();
    assertThat(scene.fired)
        .containsExactlyInAnyOrder("once@2100000", "all@2100000", "all@2100000", "all@2100000");
    assertThat(scene.firings).allMatch(Firing::isCatchUp);
    scene.fired.clear();
    scene.advance(5 * 60_000);
    assertThat(scene.fired)
        .containsExactlyInAnyOrder("once@2400000", "all@2400000", "skip@2400000");
  }

  @Test
  void aRunByHandDoesNotChangeTheSchedule() {
    scene.timer.schedule(spec("a").every(Duration.ofSeconds(10)));
    scene.advance(4_000);
    assertThat(scene.timer.runNow("shop", "a")).isEqualTo(VerbResult.DONE);
    scene.advance(7_000);
    assertThat(scene.fired).containsExactly("a@4000", "a@10000");
  }

  @Test
  void continuesWithTheScheduleWhenARunIsExhausted() {
    scene.handler = FAILS;
    scene.timer.schedule(
        spec("a")
            .every(Duration.ofSeconds(10))
            .retry(new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1))));
    scene.advance(25_000);
    assertThat(scene.fired).containsExactly("a@10000", "a@20000");
    assertThat(scene.state("a")).isEqualTo(TimerState.SCHEDULED);
  }
}
