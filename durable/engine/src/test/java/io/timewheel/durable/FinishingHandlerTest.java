// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.FinishingAttempt;
import io.timewheel.durable.spi.FinishingHandler;
import io.timewheel.durable.spi.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Verifies calls of handlers that commit many attempts in one transaction. */
class FinishingHandlerTest {
  private static final int MAX_BATCH = 4;

  private final List<Integer> sizes = new ArrayList<>();
  private Consumer<List<? extends FinishingAttempt>> handler = this::commit;
  private final Scene scene =
      new Scene(
          builder ->
              builder.finishingHandler(
                  "batch",
                  new FinishingHandler() {
                    @Override
                    public void handle(List<? extends FinishingAttempt> attempts) {
                      sizes.add(attempts.size());
                      handler.accept(attempts);
                    }

                    @Override
                    public int maxBatch() {
                      return MAX_BATCH;
                    }
                  },
                  2 * MAX_BATCH));

  private void commit(List<? extends FinishingAttempt> attempts) {
    List<Outcome> outcomes =
        scene.data.commit(attempts.stream().<Change>map(FinishingAttempt::success).toList());
    for (int i = 0; i < outcomes.size(); i++) {
      attempts.get(i).recorded(outcomes.get(i));
    }
  }

  private void schedule(int timers) {
    List<TimerSpec> specs = new ArrayList<>();
    for (int i = 0; i < timers; i++) {
      specs.add(
          TimerSpec.of("shop", "t" + i).handler("batch").after(Duration.ZERO).retry(Scene.ONCE));
    }
    var unused = scene.timer.scheduleAllAsync(specs);
    scene.kit.settle();
  }

  private long number(TimerState state) {
    return scene.timer.counts().getOrDefault("shop", Map.of()).getOrDefault(state, 0L);
  }

  @Test
  void attemptsThatWaitForACallAreHandledByOneCall() {
    schedule(10);
    assertThat(sizes).containsExactly(1, 1, MAX_BATCH, MAX_BATCH);
    assertThat(number(TimerState.COMPLETED)).isEqualTo(10);
    assertThat(scene.timer.stats().fired()).isEqualTo(10);
    assertThat(scene.timer.stats().succeeded()).isEqualTo(10);
    assertThat(scene.timer.stats().running()).isZero();
  }

  @Test
  void eachAttemptOfACallHasItsOwnEnd() {
    handler =
        attempts -> {
          List<FinishingAttempt> good = new ArrayList<>(attempts);
          good.removeIf(attempt -> attempt.firing().id().equals("t3"));
          attempts.forEach(
              attempt -> {
                if (!good.contains(attempt)) {
                  attempt.failed(new IllegalStateException("poison"));
                }
              });
          commit(good);
        };
    schedule(6);
    assertThat(number(TimerState.COMPLETED)).isEqualTo(5);
    assertThat(scene.info("t3").lastError().orElseThrow()).contains("poison");
    assertThat(scene.timer.stats().succeeded()).isEqualTo(5);
  }

  @Test
  void anAttemptThatTheHandlerLeavesOpenHasFailed() {
    handler = attempts -> commit(attempts.subList(1, attempts.size()));
    schedule(6);
    assertThat(sizes).containsExactly(1, 1, MAX_BATCH);
    assertThat(number(TimerState.FAILED)).isEqualTo(3);
    assertThat(number(TimerState.COMPLETED)).isEqualTo(3);
  }

  @Test
  void anExceptionFailsTheAttemptsThatHaveNotEnded() {
    handler =
        attempts -> {
          commit(attempts.subList(0, 1));
          attempts.get(0).failed(new IllegalStateException("too late"));
          throw new IllegalStateException("thrown");
        };
    schedule(6);
    assertThat(number(TimerState.COMPLETED)).isEqualTo(3);
    assertThat(number(TimerState.FAILED)).isEqualTo(3);
    assertThat(scene.data.get(new TimerKey("shop", "t5")).attempts().get(0).error())
        .contains("thrown");
  }

  @Test
  void anAttemptWhoseNamespaceIsPausedDoesNotBegin() {
    handler =
        attempts -> {
          commit(attempts);
          if (sizes.size() == 1) {
            var unused = scene.timer.pauseAsync("shop");
          }
        };
    schedule(6);
    assertThat(scene.timer.stats().fired()).isLessThan(6);
    var unused = scene.timer.resumeAsync("shop");
    scene.kit.settle();
    assertThat(number(TimerState.COMPLETED)).isEqualTo(6);
    assertThat(scene.timer.stats().fired()).isEqualTo(6);
  }
}
