// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerState;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Verifies how many attempts of a handler are claimed before they have a concurrency slot. */
class QuickHandlerTest {
  private static final int LIMIT = 2;

  private final ArrayDeque<CompletableFuture<Void>> running = new ArrayDeque<>();
  private final Scene scene =
      new Scene(
          builder ->
              builder.asyncHandler(
                  "slow",
                  firing -> {
                    CompletableFuture<Void> stage = new CompletableFuture<>();
                    running.add(stage);
                    return stage;
                  },
                  LIMIT,
                  null));

  private void schedule(int timers) {
    List<TimerSpec> specs = new ArrayList<>();
    for (int i = 0; i < timers; i++) {
      specs.add(TimerSpec.of("shop", "t" + i).handler("slow").after(Duration.ZERO));
    }
    var unused = scene.timer.scheduleAllAsync(specs);
    scene.kit.settle();
  }

  private void endOneEach(long millis, int times) {
    for (int i = 0; i < times; i++) {
      running.remove().complete(null);
      scene.advance(millis);
    }
  }

  private long claimed() {
    return scene.timer.counts().getOrDefault("shop", Map.of()).getOrDefault(TimerState.RUNNING, 0L);
  }

  @Test
  void slowAttemptsAreClaimedForTwiceTheLimit() {
    schedule(100);
    assertThat(claimed()).isEqualTo(2 * LIMIT);
    endOneEach(1_000, 20);
    assertThat(claimed()).isBetween((long) LIMIT, 2L * LIMIT);
  }

  @Test
  void quickAttemptsAreClaimedFurtherAheadUntilTheyAreSlow() {
    schedule(500);
    endOneEach(1, 100);
    assertThat(claimed()).isBetween(LIMIT + 10L, LIMIT + 20L);
    assertThat(running).hasSize(LIMIT);
    endOneEach(1_000, 20);
    assertThat(claimed()).isBetween((long) LIMIT, 2L * LIMIT);
  }
}
