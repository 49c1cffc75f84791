// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Change;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Verifies which lane commits a change. */
class LaneAssignmentTest {
  private static final int LANES = 2;

  private boolean firstIsSlow;
  private final LaneAssignment assignment = new LaneAssignment(LANES, () -> firstIsSlow);

  private static List<TimerKey> keys(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(i -> new TimerKey("shop", prefix + i)).toList();
  }

  private List<Integer> begin(List<TimerKey> keys) {
    return keys.stream().map(assignment::begin).toList();
  }

  @Test
  void oneLaneCommitsFewChanges() {
    for (int round = 0; round < 3; round++) {
      List<TimerKey> keys = keys("r" + round + "-", LaneAssignment.FEW);
      assertThat(begin(keys)).containsOnly(0);
      keys.forEach(assignment::end);
    }
  }

  @Test
  void allLanesCommitManyChanges() {
    List<TimerKey> few = keys("few-", LaneAssignment.FEW);
    begin(few);
    assertThat(begin(keys("many-", 100))).contains(0, 1);
  }

  @Test
  void allLanesCommitFewChangesWhileTheFirstLaneIsSlow() {
    List<TimerKey> before = keys("before-", 5);
    begin(before);
    firstIsSlow = true;
    assertThat(begin(keys("slow-", 10))).contains(0, 1);
    assertThat(begin(before)).as("the same timers again").containsOnly(0);
    firstIsSlow = false;
    assertThat(assignment.begin(new TimerKey("shop", "after"))).isZero();
  }

  @Test
  void aTimerKeepsItsLaneWhileItHasUnansweredChanges() {
    List<TimerKey> few = keys("few-", LaneAssignment.FEW);
    begin(few);
    List<TimerKey> many = keys("many-", 100);
    TimerKey inSecond = many.get(begin(many).indexOf(1));
    few.forEach(assignment::end);
    many.stream().filter(key -> !key.equals(inSecond)).forEach(assignment::end);
    assertThat(assignment.begin(inSecond)).isEqualTo(1);
    assignment.end(inSecond);
    assignment.end(inSecond);
    assertThat(assignment.begin(inSecond)).isZero();
  }

  @Test
  void aChangeThatIsReleasedTwiceCountsOnce() {
    List<TimerKey> few = keys("few-", LaneAssignment.FEW);
    begin(few);
    TimerKey key = new TimerKey("shop", "refused");
    assignment.begin(key);
    PendingChange refused =
        new PendingChange(new Change.Cancel(key, 0, 0), null, outcome -> {}, assignment);
    refused.release();
    refused.release();
    assertThat(begin(keys("many-", 100)).subList(0, 10)).contains(1);
  }
}
