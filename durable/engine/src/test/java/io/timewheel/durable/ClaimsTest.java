// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Verifies operations that a server needs for untrusted clients: giving back firings, and forged
 * page tokens.
 */
class ClaimsTest {
  private static final Duration LEASE = Duration.ofSeconds(30);

  private final DurableTestkit kit = DurableTestkit.create();
  private final DurableTimer scheduler =
      kit.start(InMemoryTimerStore.create(), builder -> builder.queueCapacity(1, true));

  private CompletableFuture<List<QueueFiring>> claim(Duration wait) {
    return scheduler.async().queue("shop", "q").claim(10, LEASE, wait).toCompletableFuture();
  }

  private QueueFiring claimed() {
    var claim = claim(Duration.ZERO);
    kit.settle();
    assertThat(claim.join()).hasSize(1);
    return claim.join().get(0);
  }

  private void due(String id) {
    scheduler.schedule(TimerSpec.of("shop", id).queue("q").after(Duration.ZERO));
    kit.settle();
  }

  @Test
  void aFiringGivenBackDoesNotCountAndIsNotDelayedByCallers() {
    due("a");
    QueueFiring first = claimed();
    var queued = scheduler.async().schedule(TimerSpec.of("shop", "b").queue("q").after(LEASE));
    scheduler.queue("shop", "q").giveBack(List.of(first));
    kit.settle();
    assertThat(queued.toCompletableFuture()).isCompleted();
    assertThat(scheduler.timer("shop", "a").get().orElseThrow().state())
        .isEqualTo(TimerState.READY);
    QueueFiring second = claimed();
    assertThat(second.firing().attempt()).isEqualTo(1);
    scheduler.queue("shop", "q").giveBack(List.of(first)); // a lease that has ended
    kit.settle();
    assertThat(scheduler.timer("shop", "a").get().orElseThrow().state())
        .isEqualTo(TimerState.RUNNING);
  }

  @Test
  void returnsTheTimeOfTheDecidingClock() {
    kit.advanceBy(Duration.ofNanos(1_999_999));
    assertThat(scheduler.now()).isEqualTo(DurableTestkit.START.plusMillis(1));
  }

  @Test
  void refusesForgedPageTokens() {
    for (String token :
        List.of("MTpuaWQ=", "MTpuaWR", "LTE6bmlk", "OTpuaWQ", "MDppZA", "MTpu", "x")) {
      assertThatThrownBy(() -> scheduler.timers(TimerFilter.all()).list(1, token))
          .as(token)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("page: " + token);
    }
  }

  @Test
  void listsTheSameTimersWithoutPayloads() {
    due("a");
    TimerFilter lean = TimerFilter.all().withoutPayload().namespace("shop").prefix("a");
    assertThat(scheduler.timers(lean).list(10, null).timers()).hasSize(1);
    assertThat(scheduler.timers(lean.prefix("b")).list(10, null).timers()).isEmpty();
  }
}
