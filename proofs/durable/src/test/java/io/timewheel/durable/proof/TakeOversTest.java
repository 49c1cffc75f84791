// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class TakeOversTest {
  private final TakeOvers takeOvers = new TakeOvers();

  @Test
  void countsEachShardOfTheLostNodeOnceAnotherHasIt() {
    takeOvers.seen(Map.of(1, "a", 2, "a", 3, "b"));
    takeOvers.lost("kill", "a");
    takeOvers.seen(Map.of(1, "b", 2, "a", 3, "b"));
    assertThat(takeOvers.isWaiting()).isTrue();
    takeOvers.seen(Map.of(1, "b", 3, "b")); // no node owns it
    assertThat(takeOvers.millisByKind().get("kill")).hasSize(1);
    takeOvers.seen(Map.of(1, "b", 2, "c", 3, "b"));
    assertThat(takeOvers.isWaiting()).isFalse();
    assertThat(takeOvers.millisByKind().get("kill")).hasSize(2);
  }

  @Test
  void countsNoShardThatANodeKeepsOverAPause() {
    takeOvers.seen(Map.of(1, "a"));
    takeOvers.lost("pause", "a");
    takeOvers.back("a");
    takeOvers.seen(Map.of(1, "b"));
    assertThat(takeOvers.millisByKind()).isEmpty();
  }

  @Test
  void countsSeparatelyDuringAnotherFault() {
    takeOvers.seen(Map.of(1, "a", 2, "b"));
    takeOvers.lost("kill", "a");
    takeOvers.disturb();
    takeOvers.disturb();
    takeOvers.lost("kill", "b");
    takeOvers.seen(Map.of(1, "c", 2, "c"));
    assertThat(takeOvers.millisByKind()).containsOnlyKeys("kill", "kill with more");
  }

  @Test
  void tellsADistribution() {
    List<Long> millis = LongStream.rangeClosed(1, 1_000).boxed().toList();
    assertThat(TakeOvers.distribution(millis))
        .isEqualTo(
            "1,000 shards: least 1 ms, median 501 ms, 90 % 901 ms, 99 % 991 ms, most 1,000 ms");
    assertThat(TakeOvers.distribution(List.of(7L))).contains("99 % 7 ms");
  }
}
