// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.RetryPolicy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is noted of handlers; queues are in the tests of the resources. */
class WatchedStoreTest {
  private final Node node = new Node(InstantSource.system(), () -> "here");
  private final AtomicInteger failures = new AtomicInteger();
  private final DurableTimer timer =
      DurableTimer.builder(node.watch("memory", InMemoryTimerStore.create()))
          .handler("h", firing -> failSomeTimes())
          .start();

  @AfterEach
  void close() {
    timer.close();
  }

  private void failSomeTimes() throws Exception {
    if (failures.getAndDecrement() > 0) {
      throw new Exception("not yet");
    }
  }

  private void schedule(String id, String handler, int attempts) {
    timer.schedule(
        TimerSpec.of("shop", id)
            .after(Duration.ZERO)
            .handler(handler)
            .retry(new RetryPolicy(attempts, Duration.ofMillis(10), Duration.ofMillis(10))));
  }

  private List<String> changes() {
    return node.feed().read(1, Long.MAX_VALUE).stream()
        .map(change -> change.key().id() + " " + change.what())
        .toList();
  }

  private void awaitLast(String change) {
    List<String> seen = changes();
    while (seen.isEmpty() || !seen.get(seen.size() - 1).equals(change)) {
      Thread.onSpinWait();
      seen = changes();
    }
  }

  @Test
  void attemptsOfHandlersAreToldWithTheirEnds() {
    failures.set(1);
    schedule("a", "h", 5);
    awaitLast("a succeeded");
    assertThat(changes())
        .containsExactly("a created", "a running", "a failed", "a running", "a succeeded");
    node.traffic().sample(Instant.EPOCH);
    assertThat(node.traffic().lag().count()).isEqualTo(2);
    assertThat(node.traffic().scheduled.sum()).isEqualTo(1);
    assertThat(node.traffic().fired.sum()).isEqualTo(2);
    assertThat(node.traffic().failed.sum()).isEqualTo(1);
    assertThat(node.traffic().succeeded.sum()).isEqualTo(1);
  }

  @Test
  void whatNeedsAPersonIsToldAsSuch() {
    failures.set(1);
    schedule("a", "h", 1);
    awaitLast("a failed");
    assertThat(node.traffic().exhausted.sum()).isEqualTo(1);
    schedule("b", "nobody", 1);
    awaitLast("b blocked");
  }

  @Test
  void theShardsOfTheNodeAreKnown() {
    WatchedStore store = node.store();
    assertThat(store.epochs()).containsEntry(0, 1L);
    assertThat(store.name()).isEqualTo("memory");
    assertThat(store.clockOffsetMillis()).isZero();
    assertThat(store.traits().shards()).isEqualTo(1);
  }
}
