// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Verifies a client alongside a node that owns the only shard. */
class ClientTest {
  private final DurableTestkit kit = DurableTestkit.create();
  private final InMemoryTimerStore data =
      InMemoryTimerStore.create(
          new StoreTraits(
              1,
              1,
              100,
              Duration.ofMinutes(1),
              Duration.ofMillis(100),
              Duration.ofMillis(500),
              Duration.ofSeconds(10)));
  private final List<String> fired = new ArrayList<>();
  private final InMemoryTimerStore session = data.join();
  private final DurableTimer node =
      kit.start(
          session,
          builder ->
              builder
                  .handler("h", firing -> fired.add(firing.id()))
                  .retain(Duration.ofDays(7), 1_000));
  private final DurableTimer client =
      kit.start(DurableTimer.client(data.join()), builder -> builder.retain(Duration.ZERO, 0));

  ClientTest() {
    session.takeShard(0);
    kit.settle();
  }

  @Test
  void schedulesAndCancelsTimersThatTheNodeFires() {
    client.schedule(TimerSpec.of("ns", "a").handler("h").after(Duration.ofSeconds(1)));
    client.schedule(TimerSpec.of("ns", "b").handler("h").after(Duration.ofSeconds(1)));
    client.timer("ns", "b").cancel();
    kit.advanceBy(Duration.ofSeconds(2));
    assertThat(fired).containsExactly("a");
    assertThat(client.timer("ns", "a").get().orElseThrow().state()).isEqualTo(TimerState.COMPLETED);
    assertThat(client.stats().shards()).isZero();
    assertThat(client.stats().fired()).isZero();
  }

  @Test
  void retriesAFailedTimer() {
    DurableTimer failing =
        kit.start(
            session.reopen(),
            builder ->
                builder.handler(
                    "bad",
                    firing -> {
                      fired.add("bad " + firing.attempt());
                      firing.giveUp("no use");
                    }));
    client.schedule(TimerSpec.of("ns", "a").handler("bad").after(Duration.ZERO));
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(client.timers(TimerFilter.all()).list(10, null).timers())
        .extracting(timer -> timer.state())
        .containsExactly(TimerState.FAILED);
    client.timer("ns", "a").retry();
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(fired).containsExactly("bad 1", "bad 1");
    assertThat(failing.stats().fired()).isEqualTo(2);
  }

  @Test
  void servesConsumersOfQueues() {
    client.schedule(TimerSpec.of("ns", "a").queue("q").after(Duration.ofSeconds(1)));
    var claim =
        client
            .async()
            .queue("ns", "q")
            .claim(1, Duration.ofSeconds(30), Duration.ofSeconds(5))
            .toCompletableFuture();
    kit.advanceBy(Duration.ofSeconds(2));
    assertThat(claim).isCompleted();
    List<QueueFiring> firings = claim.join();
    assertThat(firings).extracting(firing -> firing.firing().id()).containsExactly("a");
  }

  @Test
  void purgesNoHistory() {
    client.schedule(TimerSpec.of("ns", "a").handler("h").after(Duration.ZERO));
    kit.advanceBy(Duration.ofMinutes(5));
    assertThat(client.timer("ns", "a").get()).isPresent();
    assertThat(node.stats().fired()).isEqualTo(1);
  }

  @Test
  void runsNoHandlers() {
    assertThatThrownBy(() -> DurableTimer.client(data.join()).handler("h", firing -> {}))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("handler: h for a client, which runs none (expected: DurableTimer.builder)");
  }

  @Test
  void aStoreOfOneOwnerHasNoClients() {
    try (InMemoryTimerStore embedded = InMemoryTimerStore.create()) {
      assertThatThrownBy(() -> DurableTimer.client(embedded))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("store: has one owner, which fires its timers");
    }
  }
}
