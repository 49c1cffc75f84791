// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the hashed wheel with scripts. Ticks are 1 ms, and a turn has 128 of them, unless a test
 * sets other values. {@link WheelModel} checks the whole wheel after every line.
 */
class HashedWheelTest {
  private static final long TICK_NANOS = 1_000_000;
  private static final int TURN = 128;
  private static final int BUDGET = Wheel.POLL_BUDGET;

  private final WheelModel model = wheelOf(TURN);
  private final HashedWheel wheel = (HashedWheel) model.wheel;

  private static WheelModel wheelOf(int slots) {
    return new WheelModel(0, TICK_NANOS, ticks -> new HashedWheel(ticks, slots));
  }

  // Due timeouts

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 64, 128, 512, 4096})
  void everythingFiresAtItsTickAndNothingBefore(int slots) {
    WheelModel model = wheelOf(slots);
    long[] deadlineTicks = {1, 63, 64, 65, 127, 128, 511, 512, 4095, 4096, 4097, 1_000_000};
    for (long tick : deadlineTicks) {
      model.startAt(tick);
    }
    for (long tick : deadlineTicks) {
      assertThat(model.wheel.nextTick()).isEqualTo(tick);
      assertThat(model.runTo(tick - 1)).isEmpty();
      assertThat(model.runTo(tick)).hasSize(1);
    }
    assertThat(model.wheel.nextTick()).isEqualTo(Ticks.NEVER);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, -10 * TICK_NANOS, Long.MIN_VALUE})
  void aDelayOfZeroOrLessFiresAtTheNextTick(long delayNanos) {
    Node timeout = model.start(delayNanos);
    assertThat(model.runTo(0)).isEmpty();
    assertThat(model.runTo(1)).containsExactly(timeout);
  }

  @Test
  @Tag("promise-8")
  void timeoutsFireInTheOrderOfTheirTicksHoweverLateTheyArePolled() {
    Node third = model.startAt(10 * TURN + 5);
    Node second = model.startAt(10 * TURN);
    Node first = model.startAt(TURN - 1);
    Node fourth = model.startAt(11 * TURN);
    assertThat(model.runTo(100 * TURN)).containsExactly(first, second, third, fourth);
  }

  @Test
  @Tag("promise-9")
  void timeoutsOfOneTickFireInTheOrderInWhichTheyWereAdded() {
    List<Node> timeouts = model.startAt(10, 5);
    assertThat(model.runTo(10)).containsExactlyElementsOf(timeouts);
  }

  @Test
  void nextPollReturnsTimeoutsAlreadyDueWhenAdded() {
    model.runTo(100);
    Node late = model.start(TICK_NANOS, 20 * TICK_NANOS);
    assertThat(wheel.nextTick()).isEqualTo(100);
    assertThat(model.poll()).isSameAs(late);
  }

  @Test
  void aFullTurnAheadIsNotThisTurn() {
    model.runTo(5);
    Node timeout = model.startAt(5 + TURN);
    assertThat(wheel.nextTick()).isEqualTo(5 + TURN);
    assertThat(model.runTo(5 + TURN - 1)).isEmpty();
    assertThat(model.runTo(5 + TURN)).containsExactly(timeout);
  }

  /** A timeout that restarts itself keeps its period over many turns. */
  @Test
  void nothingDriftsOverManyTurns() {
    for (long tick = 200; tick <= 200 * 20; tick += 200) {
      Node timeout = model.startAt(tick);
      assertThat(model.runTo(tick - 1)).isEmpty();
      assertThat(model.runTo(tick)).containsExactly(timeout);
    }
  }

  @Test
  void timeoutThatIsNeverDueStaysUntilTheEndOfTime() {
    WheelModel model = new WheelModel(Long.MIN_VALUE, 1, ticks -> new HashedWheel(ticks, TURN));
    Node last = model.start(Long.MAX_VALUE - 1);
    Node never = model.startNever();
    model.advance(Long.MAX_VALUE - 2);
    assertThat(model.pollAll()).isEmpty();
    assertThat(model.wheel.nextTick()).isEqualTo(Long.MAX_VALUE - 1);
    model.advance(1);
    assertThat(model.pollAll()).containsExactly(last);
    model.advance(1);
    assertThat(model.pollAll()).isEmpty();
    assertThat(model.wheel.nextTick()).isEqualTo(Ticks.NEVER);
    assertThat(model.drain(10)).containsExactly(never);
  }

  /** Their slot is visited, because other timeouts in it are due. */
  @Test
  void visitPassesTimeoutsThatAreNeverDue() {
    WheelModel model = wheelOf(1);
    model.startNever();
    Node timeout = model.startAt(7);
    assertThat(model.runTo(7)).containsExactly(timeout);
    assertThat(model.wheel.nextTick()).isEqualTo(Ticks.NEVER);
  }

  // The next tick

  @Test
  void nearTimeoutIsNextWhicheverSlotComesFirst() {
    model.startAt(3 + 10 * TURN);
    model.startAt(70 + 5 * TURN);
    assertThat(wheel.nextTick()).isEqualTo(70 + 5 * TURN);
    model.startAt(100 + TURN);
    assertThat(wheel.nextTick()).isEqualTo(100 + TURN);
    model.startAt(90);
    assertThat(wheel.nextTick()).isEqualTo(90);
  }

  @Test
  void searchWrapsAroundTheWheel() {
    model.runTo(100);
    model.startAt(TURN + 99);
    assertThat(wheel.nextTick()).isEqualTo(TURN + 99);
    model.startAt(TURN + 70);
    assertThat(wheel.nextTick()).isEqualTo(TURN + 70);
    model.startAt(TURN + 3);
    assertThat(wheel.nextTick()).isEqualTo(TURN + 3);
    model.startAt(TURN - 1);
    assertThat(wheel.nextTick()).isEqualTo(TURN - 1);
  }

  /** If the wheel visited a slot of a later turn, a poll would spend its budget. */
  @Test
  void timeoutsOfLaterTurnsAreNotVisited() {
    long farTick = 3 * TURN + 5;
    model.startAt(farTick, 2 * BUDGET);
    for (long tick = 1; tick < farTick; tick++) {
      model.advanceTo(tick);
      assertThat(model.poll()).isNull();
      assertThat(wheel.nextTick()).isEqualTo(farTick);
    }
    assertThat(model.runTo(farTick)).hasSize(2 * BUDGET);
  }

  /** If the wheel read one of these slots again, it would throw a NullPointerException. */
  @Test
  void slotsOfLaterTurnsAreNotLookedAtAgain() {
    HashedWheel wheel = new HashedWheel(model.ticks, 4096);
    for (int i = 0; i < 4096; i++) {
      add(wheel, 10 * 4096 + i);
    }
    assertThat(wheel.nextTick()).isEqualTo(10 * 4096);
    for (int i = 64; i < 4096; i++) {
      wheel.slots[i] = null; // all slots except those of the word with the earliest deadline
    }
    Node near = add(wheel, 20);
    assertThat(wheel.nextTick()).isEqualTo(20);
    assertThat(wheel.poll(19)).isNull();
    assertThat(wheel.nextTick()).isEqualTo(20);
    assertThat(wheel.poll(20)).isSameAs(near);
    assertThat(wheel.nextTick()).isEqualTo(10 * 4096);
  }

  private Node add(HashedWheel wheel, long tick) {
    Node timeout = new BareNode(model.ticks.nanosAt(tick));
    assertThat(wheel.add(timeout, tick, 0)).isFalse();
    return timeout;
  }

  /** The bound of a word may come from a timeout that has left the wheel. */
  @Test
  void staleBoundHidesNoTick() {
    Node stopped = model.startAt(5);
    model.startAt(40);
    model.stop(stopped);
    assertThat(wheel.nextTick()).isEqualTo(40);
    model.startAt(7);
    assertThat(wheel.nextTick()).isEqualTo(7);
  }

  @Test
  void sleepsThroughEmptyTurns() {
    Node timeout = model.startAt(1_000_000L * TURN + 5);
    assertThat(wheel.nextTick()).isEqualTo(1_000_000L * TURN + 5);
    model.advanceTo(2_000_000L * TURN);
    assertThat(model.poll()).isSameAs(timeout);
    assertThat(wheel.nowTick).isEqualTo(1_000_000L * TURN + 5);
    assertThat(model.poll()).isNull();
    assertThat(wheel.nowTick).isEqualTo(2_000_000L * TURN);
  }

  @Test
  void pollWithAnOldTimeDoesNotTurnTheWheelBack() {
    model.runTo(100);
    Node timeout = model.startAt(101);
    assertThat(model.poll(50)).isNull();
    assertThat(wheel.nowTick).isEqualTo(100);
    assertThat(model.runTo(101)).containsExactly(timeout);
  }

  // Cancelling and moving

  @Test
  void aStoppedTimeoutLeavesAtOnceAndNeverFires() {
    Node stopped = model.startAt(50);
    Node other = model.startAt(60);
    model.stop(stopped);
    assertThat(wheel.nextTick()).isEqualTo(60);
    assertThat(model.runTo(59)).isEmpty();
    assertThat(model.runTo(60)).containsExactly(other);
  }

  @Test
  void cancellingTheEarliestKeepsTheBoundUntilTheNextVisit() {
    Node earliest = model.startAt(5);
    Node other = model.startAt(2 * TURN + 5);
    model.stop(earliest);
    assertThat(wheel.nextTick()).isEqualTo(5);
    assertThat(model.runTo(5)).isEmpty();
    assertThat(wheel.nextTick()).isEqualTo(2 * TURN + 5);
    assertThat(model.runTo(2 * TURN + 5)).containsExactly(other);
  }

  @Test
  void aTimeoutMovesEarlierAndLater() {
    Node timeout = model.startAt(1000);
    model.moveTo(timeout, 20);
    assertThat(wheel.nextTick()).isEqualTo(20);
    model.moveTo(timeout, 2000);
    assertThat(wheel.nextTick()).isEqualTo(2000);
    assertThat(model.runTo(1999)).isEmpty();
    assertThat(model.runTo(2000)).containsExactly(timeout);
  }

  @Test
  void movingToThePastMakesItDueAtOnce() {
    model.runTo(100);
    Node timeout = model.startAt(1000);
    model.move(timeout, 0, 10 * TICK_NANOS);
    assertThat(model.pollAll()).containsExactly(timeout);
  }

  // Visiting a slot

  @Test
  void visitSpansSeveralPolls() {
    model.startAt(9 * TURN + 5, 2 * BUDGET);
    Node due = model.startAt(5);
    model.advanceTo(7);
    assertThat(model.poll()).isNull();
    assertThat(model.poll()).isNull();
    assertThat(wheel.nextTick()).isEqualTo(5); // there is more to do
    assertThat(wheel.nowTick).isEqualTo(5);
    assertThat(model.poll()).isSameAs(due);
    assertThat(wheel.nextTick()).isEqualTo(9 * TURN + 5); // exact again
    assertThat(model.poll()).isNull();
    assertThat(wheel.nowTick).isEqualTo(7);
  }

  @Test
  void onlyPassedTimeoutsSpendTheBudget() {
    model.startAt(9 * TURN + 5, BUDGET - 1);
    Node due = model.startAt(5);
    model.advanceTo(5);
    assertThat(model.poll()).isSameAs(due);
  }

  @Test
  void visitReachesTimeoutsAddedDuringIt() {
    halfVisitedSlot();
    Node far = model.startAt(3 * TURN + 5);
    Node due = model.start(0, 0);
    assertThat(model.pollAll()).containsExactly(due);
    assertThat(wheel.nextTick()).isEqualTo(3 * TURN + 5);
    assertThat(model.runTo(3 * TURN + 5)).containsExactly(far);
  }

  @Test
  void stopsTheTimeoutUnderTheCursor() {
    List<Node> timeouts = halfVisitedSlot();
    model.stop(timeouts.get(BUDGET));
    assertVisitEnds(9 * TURN + 5);
    assertThat(model.runTo(9 * TURN + 5)).hasSize(2 * BUDGET - 1);
  }

  @Test
  void movesTheTimeoutUnderTheCursor() {
    List<Node> timeouts = halfVisitedSlot();
    Node next = timeouts.get(BUDGET);
    model.moveTo(next, 4 * TURN + 5);
    assertVisitEnds(4 * TURN + 5);
    assertThat(model.runTo(4 * TURN + 5)).containsExactly(next);
  }

  @Test
  void stopsEverythingNotYetVisited() {
    List<Node> timeouts = halfVisitedSlot();
    timeouts.subList(BUDGET, 2 * BUDGET).forEach(model::stop);
    assertThat(wheel.nextTick()).isEqualTo(9 * TURN + 5); // the visit is over
    assertThat(model.runTo(9 * TURN + 5)).containsExactlyElementsOf(timeouts.subList(0, BUDGET));
  }

  @Test
  void stopsTheWholeSlot() {
    List<Node> timeouts = halfVisitedSlot();
    timeouts.forEach(model::stop);
    assertThat(wheel.nextTick()).isEqualTo(Ticks.NEVER);
    Node timeout = model.startAt(TURN + 5);
    assertThat(model.runTo(TURN + 5)).containsExactly(timeout);
  }

  @Test
  void movesTheLastOneWithinItsSlot() {
    List<Node> timeouts = halfVisitedSlot();
    Node last = timeouts.get(2 * BUDGET - 1);
    timeouts.subList(0, 2 * BUDGET - 1).forEach(model::stop);
    model.moveTo(last, 2 * TURN + 5);
    assertThat(wheel.nextTick()).isEqualTo(2 * TURN + 5); // the visit is over
    assertThat(model.runTo(2 * TURN + 5)).containsExactly(last);
  }

  /** The walk keeps the deadline of a timeout that it passed, although that has left meanwhile. */
  @Test
  void stopsAPassedTimeoutBeforeTheVisitEnds() {
    Node passed = model.startAt(2 * TURN + 5);
    List<Node> timeouts = halfVisitedSlot();
    model.stop(passed);
    assertVisitEnds(2 * TURN + 5);
    assertThat(model.runTo(2 * TURN + 5)).isEmpty();
    assertThat(wheel.nextTick()).isEqualTo(9 * TURN + 5);
    assertThat(model.runTo(9 * TURN + 5)).containsExactlyElementsOf(timeouts);
  }

  @Test
  void visitLosesNoTime() {
    Node first = model.startAt(7);
    Node second = model.startAt(TURN + 5);
    List<Node> timeouts = halfVisitedSlot();
    model.advanceTo(9 * TURN + 5);
    List<Node> polled = model.pollAll();
    assertThat(polled).startsWith(first, second).hasSize(2 + timeouts.size());
  }

  @Test
  void drainsDuringAVisit() {
    List<Node> timeouts = halfVisitedSlot();
    List<Node> drained = new ArrayList<>(model.drain(BUDGET + 1));
    drained.addAll(model.drain(10 * BUDGET));
    assertThat(drained).containsExactlyElementsOf(timeouts);
    assertThat(wheel.nextTick()).isEqualTo(Ticks.NEVER);
  }

  private void assertVisitEnds(long nextTick) {
    assertThat(wheel.nextTick()).isEqualTo(5);
    assertThat(model.pollAll()).isEmpty();
    assertThat(wheel.nextTick()).isEqualTo(nextTick);
  }

  /**
   * Walks past the first half of slot 5, at tick 5. The wheel visits the slot because of a timeout
   * due at tick 5, which is cancelled before the poll.
   */
  private List<Node> halfVisitedSlot() {
    Node bait = model.startAt(5);
    int before = model.slotMates(bait).size() - 1;
    List<Node> timeouts = model.startAt(9 * TURN + 5, 2 * BUDGET - before);
    model.stop(bait);
    model.advanceTo(5);
    assertThat(model.poll()).isNull();
    assertThat(wheel.nextTick()).isEqualTo(5);
    return timeouts;
  }

  // Structure

  @Test
  void makesSlotsOnDemandAndKeepsThem() {
    assertThat(wheel.slots).hasSize(TURN).containsOnlyNulls();
    Node timeout = model.startAt(TURN + 70);
    Slot made = wheel.slots[70];
    assertThat(WheelChecks.slotOf(wheel, timeout)).isSameAs(made);
    model.stop(timeout);
    model.startAt(2 * TURN + 70);
    assertThat(wheel.slots[70]).isSameAs(made);
    assertThat(wheel.slots).filteredOn(slot -> slot != null).hasSize(1);
  }

  @Test
  void theBitmapHasAWordForEvery64Slots() {
    assertThat(new HashedWheel(model.ticks, 1).words).isEqualTo(1);
    assertThat(new HashedWheel(model.ticks, 64).words).isEqualTo(1);
    assertThat(new HashedWheel(model.ticks, 128).words).isEqualTo(2);
  }

  @Test
  void drainingStopsAtItsLimit() {
    List<Node> timeouts = model.startAt(50, 70);
    timeouts.addAll(model.startAt(100, 30));
    timeouts.add(model.startNever());
    assertThat(model.drain(0)).isEmpty();
    List<Node> drained = new ArrayList<>(model.drain(64));
    assertThat(drained).hasSize(64);
    drained.addAll(model.drain(64));
    assertThat(drained).containsExactlyInAnyOrderElementsOf(timeouts);
    assertThat(model.drain(64)).isEmpty();
  }
}
