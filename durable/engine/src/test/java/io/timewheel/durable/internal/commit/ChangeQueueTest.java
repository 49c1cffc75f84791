// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Verifies the shares of callers and of the engine in a batch. */
class ChangeQueueTest {
  private static final int MAX = 1_000;
  private static final LaneAssignment ONE_LANE = new LaneAssignment(1, lane -> false);

  private final ChangeQueue queue = new ChangeQueue(10_000);

  private static PendingChange own(String id) {
    return new PendingChange(cancel(id), null, outcome -> {}, ONE_LANE);
  }

  private static PendingChange caller(String id) {
    return new PendingChange(cancel(id), new Call(cancel(id)), null, ONE_LANE);
  }

  private static Change cancel(String id) {
    return new Change.Cancel(new TimerKey("shop", id), 0, 0);
  }

  private record Call(Change change) implements Committer.Call {
    @Override
    public void answer(Outcome outcome) {}

    @Override
    public void fail(RuntimeException failure) {}
  }

  private void addBulk(int count) {
    IntStream.range(0, count).forEach(i -> queue.addBulk(own("bulk-" + i)));
  }

  private void addCallers(int count) {
    IntStream.range(0, count).forEach(i -> queue.addCallers(caller("caller-" + i)));
  }

  private List<String> take() {
    return queue.takeBatch(MAX, 0).stream().map(item -> item.change.key().id()).toList();
  }

  private static long count(List<String> ids, String prefix) {
    return ids.stream().filter(id -> id.startsWith(prefix)).count();
  }

  @Test
  void aBacklogTakesNoMoreOfABatchThanTheCallers() {
    addBulk(5_000);
    addCallers(200);
    List<String> batch = take();
    assertThat(count(batch, "caller")).isEqualTo(200);
    assertThat(count(batch, "bulk")).isEqualTo(200);
    assertThat(batch.get(0)).as("callers come first").isEqualTo("caller-0");
  }

  @Test
  void aBacklogGetsSomeOfEachBatchHoweverFewCallersThereAre() {
    addBulk(5_000);
    addCallers(1);
    assertThat(count(take(), "bulk")).isEqualTo(ChangeQueue.MIN_BULK_SHARE);
  }

  @Test
  void callersTakeNoMoreThanHalfOfABatchFromABacklog() {
    addBulk(5_000);
    addCallers(5_000);
    List<String> batch = take();
    assertThat(count(batch, "caller")).isEqualTo(MAX / 2);
    assertThat(count(batch, "bulk")).isEqualTo(MAX / 2);
  }

  @Test
  void callersGetTheRoomThatASmallBacklogLeaves() {
    addBulk(10);
    addCallers(5_000);
    assertThat(count(take(), "caller")).isEqualTo(MAX - 10);
  }

  @Test
  void batchesOfABacklogGrowAgainAfterTheLastCaller() {
    addBulk(10_000);
    List<Integer> sizes = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      sizes.add(take().size());
    }
    assertThat(sizes).containsExactly(16, 32, 64, 128, 256, 512, 1_000);
    addCallers(20);
    assertThat(take()).hasSize(20 + 20);
    for (int i = 0; i < ChangeQueue.QUIET_BATCHES; i++) {
      assertThat(take()).as("the callers may come back soon").hasSize(20);
    }
    assertThat(take()).hasSize(40);
  }

  @Test
  void otherChangesOfTheEngineGoFirst() {
    addBulk(10);
    addCallers(1);
    queue.addOwn(own("own"));
    assertThat(take()).startsWith("own", "caller-0", "bulk-0", "bulk-1").hasSize(10);
  }

  @Test
  void takesAllChangesOnceAndEachKindInItsOrder() {
    addBulk(3_000);
    addCallers(3_000);
    List<String> taken = new ArrayList<>();
    while (queue.isReady()) {
      taken.addAll(take());
    }
    assertThat(queue.isEmpty()).isTrue();
    for (String kind : List.of("bulk", "caller")) {
      assertThat(taken)
          .filteredOn(id -> id.startsWith(kind))
          .containsExactlyElementsOf(
              IntStream.range(0, 3_000).mapToObj(i -> kind + "-" + i).toList());
    }
  }

  @Test
  void heldTimersAlternateWithSuspects() {
    List<String> taken = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      FailedChanges failed =
          new FailedChanges(
              List.of(own("suspect")),
              new StoreException(StoreException.Kind.UNKNOWN, "the answer was lost", null));
      queue.putAside(failed);
      queue.makeDue(failed);
    }
    List<PendingChange> held = List.of(own("held"));
    for (List<PendingChange> batch = held; taken.size() < 6; batch = queue.takeBatch(MAX, 0)) {
      batch.forEach(item -> taken.add(item.change.key().id()));
      if (batch.equals(held)) {
        queue.hold(batch, 0);
        queue.makeDue(HeldChanges.keys(batch)); // due again at once
      }
    }
    assertThat(taken).containsExactly("held", "held", "suspect", "held", "suspect", "held");
  }

  @Test
  void aCloseFindsTheBacklog() {
    addBulk(3);
    assertThat(queue.ownWaiting()).isEqualTo(3);
    assertThat(queue.takeAll()).hasSize(3);
    assertThat(queue.isEmpty()).isTrue();
  }
}
