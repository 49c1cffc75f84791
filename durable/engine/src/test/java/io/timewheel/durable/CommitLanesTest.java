// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Verifies how a store with two committers receives the changes of several timers. */
class CommitLanesTest {
  /** The timers of each commit. */
  private final List<List<TimerKey>> commits = new ArrayList<>();

  private final Stand stand = new Stand();
  private final DurableTimer scheduler =
      stand.start(
          new ForwardingTimerStore(
              InMemoryTimerStore.create(
                  new StoreTraits(
                      1, 2, 1_000, Duration.ofMinutes(1), Duration.ZERO, Duration.ZERO))) {
            @Override
            public List<Outcome> commit(List<Change> changes) {
              commits.add(changes.stream().map(Change::key).toList());
              return super.commit(changes);
            }
          },
          builder -> builder.handler("h", firing -> {}));

  private void schedule(int count) {
    commits.clear();
    IntStream.range(0, count)
        .forEach(i -> scheduler.async().schedule(Scene.spec("t" + i).after(Duration.ofHours(1))));
    stand.settle();
  }

  @Test
  void fewChangesShareOneCommit() {
    schedule(16);
    assertThat(commits).as("one commit").hasSize(1);
    assertThat(commits.get(0)).hasSize(16);
    schedule(16);
    assertThat(commits).as("the same timers again").hasSize(1);
  }

  @Test
  void manyChangesAreCommittedConcurrently() {
    schedule(200);
    assertThat(commits).hasSize(2).allSatisfy(keys -> assertThat(keys).hasSizeGreaterThan(50));
  }
}
