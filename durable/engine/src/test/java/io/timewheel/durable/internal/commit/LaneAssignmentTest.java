// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.Change;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Verifies which lane commits a change. */
class LaneAssignmentTest {
  private static final int LANES = 2;

  private final Set<Integer> slowLanes = new HashSet<>();
  private final LaneAssignment assignment = new LaneAssignment(LANES, slowLanes::contains);

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
  void aSlowLaneGetsNoNewTimers() {
    List<TimerKey> before = keys("before-", 5);
    begin(before);
    slowLanes.add(0);
    assertThat(begin(keys("few-", 10))).containsOnly(1);
    assertThat(begin(before)).as("the same timers again").containsOnly(0);
    slowLanes.clear();
    assertThat(assignment.begin(new TimerKey("shop", "after"))).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void manyNewTimersAvoidASlowLane(int slow) {
    slowLanes.add(slow);
    assertThat(begin(keys("many-", 100))).containsOnly(1 - slow);
  }

  @Test
  void allLanesCommitIfAllAreSlow() {
    slowLanes.addAll(List.of(0, 1));
    begin(keys("few-", LaneAssignment.FEW));
    assertThat(begin(keys("many-", 100))).contains(0, 1);
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
