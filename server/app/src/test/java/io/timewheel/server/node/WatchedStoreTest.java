// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.testing.Await;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the recorded changes of handlers. The tests of the resources cover queues. */
class WatchedStoreTest {
  private static final long NOW = System.currentTimeMillis();

  private final Node node = new Node(InstantSource.system(), () -> "here");
  private final AtomicInteger failures = new AtomicInteger();
  private final DurableTimer scheduler =
      DurableTimer.builder(node.watch("memory", InMemoryTimerStore.create()))
          .handler("h", firing -> failSomeTimes())
          .start();

  @AfterEach
  void close() {
    scheduler.close();
  }

  private void failSomeTimes() throws Exception {
    if (failures.getAndDecrement() > 0) {
      throw new Exception("not yet");
    }
  }

  private void schedule(String id, String handler, int attempts) {
    scheduler.schedule(
        TimerSpec.of("shop", id)
            .after(Duration.ZERO)
            .handler(handler)
            .retry(new RetryPolicy(attempts, Duration.ofMillis(10), Duration.ofMillis(10))));
  }

  private List<String> changes() {
    return node.feed().read(1, Long.MAX_VALUE).stream()
        .map(change -> change.key().id() + " " + change.kind())
        .toList();
  }

  private void awaitLast(String change) {
    Await.until(
        () -> {
          List<String> seen = changes();
          return !seen.isEmpty() && seen.get(seen.size() - 1).equals(change);
        });
  }

  @Test
  void attemptsOfHandlersAreReportedWithTheirResults() {
    failures.set(1);
    schedule("a", "h", 5);
    awaitLast("a succeeded");
    assertThat(changes())
        .containsExactly("a created", "a running", "a failed", "a running", "a succeeded");
    node.namespaceTraffic().sample(Instant.EPOCH);
    assertThat(requireNonNull(node.namespaceTraffic().of(null, Instant.EPOCH)).lag().count())
        .isEqualTo(2);
    assertThat(node.traffic().scheduled.sum()).isEqualTo(1);
    assertThat(node.traffic().fired.sum()).isEqualTo(2);
    assertThat(node.traffic().failed.sum()).isEqualTo(1);
    assertThat(node.traffic().succeeded.sum()).isEqualTo(1);
  }

  @Test
  void problemsForAPersonAreShown() {
    failures.set(1);
    schedule("a", "h", 1);
    awaitLast("a failed");
    assertThat(node.traffic().exhausted.sum()).isEqualTo(1);
    schedule("b", "nobody", 1);
    awaitLast("b blocked");
  }

  /** Clients may repeat a call within the millisecond of the first one. */
  @Test
  void repeatedCallsOfTheSameMillisecondCountOnce() {
    Change.Schedule schedule = scheduleLate("a", Change.Condition.NONE, 0);
    commitTwice(schedule);
    TimerRecord made = node.store().get(schedule.key());
    Change.Begin begin =
        new Change.Begin(
            made.key(),
            made.version(),
            made.revision(),
            1,
            new ClaimToken(7, 7),
            TimerRecord.NONE,
            NOW);
    node.store().commit(List.of(begin));
    commitTwice(new Change.Cancel(made.key(), 0, NOW));
    commitTwice(
        new Change.Finish(
            made.key(),
            begin.token(),
            1,
            Change.Finish.End.SUCCEEDED,
            TimerRecord.NEVER,
            null,
            NOW));
    node.store().commit(List.of(scheduleLate("b", Change.Condition.NONE, 0)));
    commitTwice(new Change.Cancel(new TimerKey("shop", "b"), 0, NOW));
    long version = node.store().get(new TimerKey("shop", "b")).version();
    commitTwice(scheduleLate("b", Change.Condition.VERSION, version));

    assertThat(changes())
        .containsExactly(
            "a created",
            "a running",
            "a cancel_requested",
            "a succeeded",
            "b created",
            "b cancelled");
    assertThat(node.traffic().scheduled.sum()).isEqualTo(2);
    assertThat(node.traffic().succeeded.sum()).isEqualTo(1);
  }

  private void commitTwice(Change change) {
    node.store().commit(List.of(change, change));
    node.store().commit(List.of(change));
  }

  private static Change.Schedule scheduleLate(String id, Change.Condition condition, long version) {
    return new Change.Schedule(
        new TimerKey("shop", id),
        new TimerDefinition(
            "", "h", false, new byte[0], Map.of(), RetryPolicy.DEFAULT, MissedRuns.FIRE_ONCE, 0),
        NOW + 3_600_000,
        false,
        condition,
        version,
        false,
        RequestId.of("request-" + condition),
        TimerRecord.NEVER,
        NOW);
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
