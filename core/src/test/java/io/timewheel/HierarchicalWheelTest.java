// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The hierarchical wheel, as scripts in time. Ticks are of 1 ms. {@link WheelModel} checks the
 * whole wheel after every line.
 */
class HierarchicalWheelTest {
  private static final long TICK_NANOS = 1_000_000;
  private static final long SECOND = 1_000;
  private static final long HOUR = 3_600 * SECOND;
  private static final long YEAR = 365 * 24 * HOUR;
  private static final int BUDGET = Wheel.POLL_BUDGET;

  private final WheelModel model = new WheelModel(0, TICK_NANOS, HierarchicalWheel::new);
  private final HierarchicalWheel wheel = (HierarchicalWheel) model.wheel;

  // Being due

  @Test
  void nothingFiresBeforeItsTickAndAllThatIsDueFiresAtIt() {
    Node early = model.startAt(99);
    Node late = model.startAt(100);
    assertThat(model.runTo(98)).isEmpty();
    assertThat(model.runTo(99)).containsExactly(early);
    assertThat(model.runTo(100)).containsExactly(late);
    assertThat(wheel.nextTick()).isEqualTo(Ticks.NEVER);
  }

  @Test
  void aDeadlineWithinATickFiresAtTheNextOne() {
    Node timeout = model.start(TICK_NANOS + 1);
    assertThat(model.runTo(1)).isEmpty();
    assertThat(model.runTo(2)).containsExactly(timeout);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, -10 * TICK_NANOS, Long.MIN_VALUE})
  void aDelayOfZeroOrLessFiresAtTheNextTick(long delayNanos) {
    Node timeout = model.start(delayNanos);
    assertThat(model.runTo(0)).isEmpty();
    assertThat(model.runTo(1)).containsExactly(timeout);
  }

  @Test
  void timeoutsOfOneTickFireInTheOrderInWhichTheyWereAdded() {
    List<Node> timeouts = model.startAt(10, 5);
    assertThat(model.runTo(10)).containsExactlyElementsOf(timeouts);
  }

  @Test
  void timeoutsFireInTheOrderOfTheirTicksHoweverLateTheyArePolled() {
    Node third = model.startAt(2 * HOUR);
    Node first = model.startAt(30);
    Node fourth = model.startAt(2 * HOUR + 1);
    Node second = model.startAt(5 * SECOND);
    assertThat(model.runTo(YEAR)).containsExactly(first, second, third, fourth);
  }

  @ParameterizedTest
  @ValueSource(longs = {256, 2 * 256, 65_536, 3 * 65_536, 16_777_216, 4_294_967_296L})
  void whatIsDueExactlyAtTheStartOfAHigherSlotFiresThen(long startTick) {
    Node before = model.startAt(startTick - 1);
    Node atStart = model.startAt(startTick);
    Node after = model.startAt(startTick + 1);
    assertThat(model.runTo(startTick - 1)).containsExactly(before);
    assertThat(wheel.nextTick()).isEqualTo(startTick);
    assertThat(model.runTo(startTick)).containsExactly(atStart);
    assertThat(wheel.nextTick()).isEqualTo(startTick + 1);
    assertThat(model.runTo(startTick + 1)).containsExactly(after);
  }

  @Test
  void whatIsAlreadyDueWhenAddedIsReturnedByTheNextPoll() {
    model.runTo(100);
    Node late = model.start(TICK_NANOS, 20 * TICK_NANOS);
    assertThat(wheel.nextTick()).isEqualTo(100);
    assertThat(model.poll()).isSameAs(late);
  }

  @Test
  void whatIsNeverDueStaysUntilTheEndOfTime() {
    WheelModel model = new WheelModel(Long.MIN_VALUE, 1, HierarchicalWheel::new);
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

  // Stopping and moving

  @Test
  void aStoppedTimeoutLeavesAtOnceAndNeverFires() {
    Node stopped = model.startAt(50);
    Node other = model.startAt(5000);
    model.stop(stopped);
    assertThat(wheel.nextTick()).isEqualTo(5000);
    assertThat(model.runTo(4999)).isEmpty();
    assertThat(model.runTo(5000)).containsExactly(other);
  }

  /** It wakes the worker once for nothing; a walk for the exact bound would cost more. */
  @Test
  void stoppingTheEarliestOfASlotLeavesItsTickAsTheBound() {
    Node earliest = model.startAt(65_536 + 50);
    Node other = model.startAt(65_536 + 500);
    model.stop(earliest);
    assertThat(wheel.nextTick()).isEqualTo(65_536 + 50);
    assertThat(model.runTo(65_536 + 50)).isEmpty();
    assertThat(wheel.nextTick()).isEqualTo(65_536 + 500);
    assertThat(model.runTo(65_536 + 500)).containsExactly(other);
  }

  @Test
  void aTimeoutMovesEarlierAndLater() {
    Node timeout = model.startAt(HOUR);
    model.moveTo(timeout, 20);
    assertThat(wheel.nextTick()).isEqualTo(20);
    model.moveTo(timeout, 2 * HOUR);
    assertThat(wheel.nextTick()).isEqualTo(2 * HOUR);
    assertThat(model.runTo(2 * HOUR - 1)).isEmpty();
    assertThat(model.runTo(2 * HOUR)).containsExactly(timeout);
  }

  @Test
  void movingWithinOneSlotPutsTheTimeoutBehindTheOthers() {
    Node first = model.startAt(30);
    Node second = model.startAt(30);
    model.moveTo(first, 30);
    assertThat(model.runTo(30)).containsExactly(second, first);
  }

  @Test
  void movingToThePastMakesDueAtOnce() {
    model.runTo(100);
    Node timeout = model.startAt(HOUR);
    model.move(timeout, 0, 10 * TICK_NANOS);
    assertThat(model.pollAll()).containsExactly(timeout);
  }

  // Time, as it is told

  @Test
  void aShortDelayAfterAnIdleHourIsFiledFinely() {
    long turn = HOUR / 256 * 256; // the start of a turn of level 0
    model.advanceTo(turn);
    assertThat(levelOf(model.startAt(turn + 255))).isZero();
    assertThat(levelOf(model.startAt(turn + 256))).isEqualTo(1);
    assertThat(wheel.nowTick).isEqualTo(turn);
  }

  @Test
  void theWheelFollowsTheTimeUpToTheFirstSlotInItsWay() {
    Node far = model.startAt(10 * 65_536 + 4000);
    model.advanceTo(9 * 65_536);
    model.startAt(10 * 65_536);
    assertThat(wheel.nowTick).isEqualTo(9 * 65_536);

    model.advanceTo(10 * 65_536 + 100);
    assertThat(levelOf(model.startAt(10 * 65_536 + 101))).isEqualTo(2);
    assertThat(wheel.nowTick).isEqualTo(10 * 65_536 - 1);

    // The next poll opens the slot, and all is well again.
    assertThat(model.runTo(10 * 65_536 + 101)).hasSize(2);
    assertThat(levelOf(model.startAt(10 * 65_536 + 102))).isZero();
    assertThat(model.runTo(10 * 65_536 + 4000)).contains(far);
  }

  @Test
  void theWheelFollowsTheTimeAgainWhenTheSlotInItsWayIsEmptied() {
    Node inTheWay = model.startAt(65_536 + 4000);
    model.advanceTo(65_536 + 100);
    Node coarse = model.startAt(65_536 + 101);
    assertThat(levelOf(coarse)).isEqualTo(2);
    model.stop(inTheWay);
    model.stop(coarse);
    model.advanceTo(65_536 + 101); // it looks once a tick
    assertThat(levelOf(model.startAt(65_536 + 102))).isZero();
    assertThat(wheel.nowTick).isEqualTo(65_536 + 101);
  }

  @Test
  void movingFollowsTheTimeAsAddingDoes() {
    Node timeout = model.startAt(2 * HOUR);
    model.advanceTo(HOUR);
    model.moveTo(timeout, HOUR + 5);
    assertThat(wheel.nowTick).isEqualTo(HOUR);
    assertThat(levelOf(timeout)).isZero();
  }

  @Test
  void addingDoesNotAdvanceTheTimeOverWhatIsDue() {
    Node due = model.startAt(10);
    model.advanceTo(20);
    Node next = model.startAt(21);
    assertThat(wheel.nowTick).isZero();
    assertThat(wheel.nextTick()).isEqualTo(10);
    assertThat(model.pollAll()).containsExactly(due);
    assertThat(model.runTo(21)).containsExactly(next);
  }

  /** Or what is at level 0 in a slot of the next 256 ticks is taken for due at once. */
  @Test
  void aTimeReadLongAgoDoesNotTurnTheWheelBack() {
    Node timeout = model.startAt(300);
    model.runTo(256);
    assertThat(levelOf(timeout)).isZero();

    Node slow = model.start(TICK_NANOS, 255 * TICK_NANOS);

    assertThat(wheel.nowTick).isEqualTo(256);
    assertThat(model.runTo(299)).containsExactly(slow);
    assertThat(model.runTo(300)).containsExactly(timeout);
  }

  @Test
  void aPollWithATimeReadLongAgoDoesNotTurnTheWheelBack() {
    model.runTo(100);
    Node timeout = model.startAt(101);
    assertThat(model.poll(50)).isNull();
    assertThat(wheel.nowTick).isEqualTo(100);
    assertThat(model.runTo(101)).containsExactly(timeout);
  }

  // The slot of last time

  @Test
  void theSlotOfLastTimeIsNotTakenAgainOnceTimeHasReachedIt() {
    Node coarse = model.startAt(300);
    assertThat(levelOf(coarse)).isEqualTo(1);
    model.stop(coarse);
    model.advanceTo(256);
    assertThat(levelOf(model.startAt(300))).isZero();
  }

  @Test
  void theSlotOfLastTimeIsNotTakenForAnOpenedOne() {
    Node first = model.startAt(300);
    model.startAt(310);
    assertThat(model.runTo(300)).containsExactly(first);
    Node later = model.startAt(320);
    assertThat(levelOf(later)).isZero();
    assertThat(model.runTo(320)).hasSize(2).endsWith(later);
  }

  @Test
  void delaysInTurnFindTheirOwnSlots() {
    Node near = model.startAt(5);
    Node far = model.startAt(70_000);
    Node nearAgain = model.startAt(5);
    Node farAgain = model.startAt(70_001);
    assertThat(model.slotMates(near)).containsExactly(near, nearAgain);
    assertThat(model.slotMates(far)).containsExactly(far, farAgain);
  }

  // Marks

  @Test
  void theMarkOfAnEmptySlotIsRemovedByTheNextSearch() {
    Node timeout = model.startAt(5);
    Node other = model.startAt(70);
    wheel.remove(timeout); // the model would search
    assertThat(wheel.marks(0)).isEqualTo(1 << 5);
    assertThat(wheel.nextTick()).isEqualTo(70);
    assertThat(wheel.marks(0)).isZero();
    assertThat(wheel.markedWords).isEqualTo(1 << 1);
    wheel.remove(other);
    assertThat(wheel.markedWords).isEqualTo(1 << 1);
    assertThat(wheel.nextTick()).isEqualTo(Ticks.NEVER);
    assertThat(wheel.markedWords).isZero();
  }

  // Sleeping past slots

  @Test
  void aFarSlotWakesNobodyBeforeItsEarliestDeadline() {
    model.startAt(5 * 16_777_216 + 200_000);
    Node earliest = model.startAt(5 * 16_777_216 + 100_000);
    model.startAt(5 * 16_777_216 + 150_000);
    assertThat(wheel.nextTick()).isEqualTo(5 * 16_777_216 + 100_000);
    assertThat(model.runTo(5 * 16_777_216 + 100_000)).containsExactly(earliest);
    assertThat(wheel.nextTick()).isEqualTo(5 * 16_777_216 + 150_000);
  }

  @Test
  void aPollWithinAFarSlotOpensItAndFiresNothing() {
    Node timeout = model.startAt(5 * 65_536 + 3000);
    assertThat(model.runTo(5 * 65_536 + 1000)).isEmpty();
    assertThat(wheel.nowTick).isEqualTo(5 * 65_536 + 1000);
    assertThat(wheel.nextTick()).isEqualTo(5 * 65_536 + 3000);
    assertThat(levelOf(timeout)).isEqualTo(1);
    assertThat(model.runTo(5 * 65_536 + 3000)).containsExactly(timeout);
  }

  /** The nearer the time to the timeouts of the slot, the lower they land. */
  @Test
  void aSlotOpensAtTheTimeOfItsEarliestDeadline() {
    Node first = model.startAt(5 * 65_536 + 3008);
    Node second = model.startAt(5 * 65_536 + 3009);
    model.advanceTo(6 * 65_536);
    assertThat(model.poll()).isSameAs(first);
    assertThat(wheel.nowTick).isEqualTo(5 * 65_536 + 3008);
    assertThat(levelOf(second)).isZero();
  }

  // Opening a slot

  @Test
  void openingASlotGoesOnOverSeveralPolls() {
    List<Node> timeouts = model.startAt(65_536 + 100, 3 * BUDGET);
    model.advanceTo(65_536 + 50);
    for (int left = 3 * BUDGET; left > BUDGET; left -= BUDGET) {
      assertThat(model.poll()).isNull();
      assertThat(wheel.nextTick()).isEqualTo(65_536 + 50);
      assertThat(isOpening()).isTrue();
      assertThat(model.slotMates(timeouts.get(3 * BUDGET - 1))).hasSize(left - BUDGET);
    }
    assertThat(model.poll()).isNull();
    assertThat(isOpening()).isFalse();
    assertThat(wheel.nextTick()).isEqualTo(65_536 + 100);
    assertThat(model.runTo(65_536 + 100)).containsExactlyInAnyOrderElementsOf(timeouts);
  }

  /** So that one full slot does not hold up what is due until all of it is moved. */
  @Test
  void whatIsDueIsHandedOutWhileTheSlotIsStillBeingOpened() {
    List<Node> timeouts = model.startAt(65_536, 3 * BUDGET);
    model.advanceTo(65_536);
    assertThat(model.poll()).isSameAs(timeouts.get(0));
    assertThat(isOpening()).isTrue();
    assertThat(model.pollAll()).containsExactlyElementsOf(timeouts.subList(1, 3 * BUDGET));
  }

  /** The slot of level 2 opens at a bound that is not exact, so one of level 1 opens after it. */
  @Test
  void oneBudgetServesAllTheSlotsThatAPollOpens() {
    Node bait = model.startAt(65_536 + 10);
    List<Node> timeouts = model.startAt(65_536 + 600, BUDGET / 2 + 8);
    model.stop(bait);
    model.advanceTo(65_536 + 700);
    assertThat(model.poll()).isSameAs(timeouts.get(0));
    assertThat(wheel.nowTick).isEqualTo(65_536 + 600);
    assertThat(model.slotMates(timeouts.get(timeouts.size() - 1))).hasSize(16);
    assertThat(model.pollAll()).hasSize(timeouts.size() - 1);
  }

  @Test
  void timeoutsAreAddedWhileASlotIsBeingOpened() {
    List<Node> timeouts = halfOpenSlot(65_536 + 50, 65_536 + 200);

    Node due = model.start(0, 0);
    Node soon = model.startAt(65_536 + 51);
    Node same = model.startAt(65_536 + 200);
    Node far = model.startAt(HOUR);

    assertThat(isOpening()).isTrue();
    assertThat(model.poll()).isSameAs(due);
    assertThat(model.pollAll()).isEmpty();
    assertThat(model.runTo(65_536 + 51)).containsExactly(soon);
    assertThat(model.runTo(65_536 + 200)).hasSize(timeouts.size() + 1).contains(same);
    assertThat(model.runTo(HOUR)).containsExactly(far);
  }

  @Test
  void timeoutsAreStoppedWhileASlotIsBeingOpened() {
    List<Node> timeouts = halfOpenSlot(65_536 + 50, 65_536 + 200);
    Node moved = timeouts.get(0);
    Node nextToMove = timeouts.get(BUDGET);
    Node last = timeouts.get(timeouts.size() - 1);
    for (Node timeout : List.of(moved, nextToMove, last)) {
      model.stop(timeout);
    }
    timeouts.removeAll(List.of(moved, nextToMove, last));
    assertThat(model.runTo(65_536 + 200)).containsExactlyInAnyOrderElementsOf(timeouts);
  }

  @Test
  void stoppingAllTheRestEndsTheOpening() {
    List<Node> timeouts = halfOpenSlot(65_536 + 50, 65_536 + 200);
    timeouts.subList(BUDGET, timeouts.size()).forEach(model::stop);
    assertThat(isOpening()).isFalse();
    assertThat(wheel.nextTick()).isEqualTo(65_536 + 200);
    assertThat(model.runTo(65_536 + 200)).containsExactlyElementsOf(timeouts.subList(0, BUDGET));
  }

  @Test
  void movingAllTheRestEndsTheOpening() {
    List<Node> timeouts = halfOpenSlot(65_536 + 50, 65_536 + 200);
    List<Node> rest = timeouts.subList(BUDGET, timeouts.size());
    rest.forEach(timeout -> model.moveTo(timeout, 65_536 + 60));
    assertThat(isOpening()).isFalse();
    assertThat(model.runTo(65_536 + 60)).containsExactlyElementsOf(rest);
  }

  @Test
  void timeoutsAreDrainedWhileASlotIsBeingOpened() {
    List<Node> timeouts = halfOpenSlot(65_536 + 50, 65_536 + 200);
    List<Node> drained = new ArrayList<>(model.drain(BUDGET + 1));
    assertThat(isOpening()).isTrue();
    drained.addAll(model.drain(10 * BUDGET));
    assertThat(isOpening()).isFalse();
    assertThat(drained).containsExactlyInAnyOrderElementsOf(timeouts);
  }

  /** Or what is still in the slot lands behind it, and waits for all that is before it. */
  @Test
  void addingDoesNotAdvanceTheTimeOverWhatIsStillInTheSlotBeingOpened() {
    List<Node> others = model.startAt(65_536 + 200, BUDGET);
    List<Node> early = model.startAt(65_536 + 10, 2);
    model.advanceTo(65_536 + 10);
    assertThat(model.poll()).isNull(); // the budget went into the others

    model.advanceTo(65_536 + 80);
    Node late = model.startAt(65_536 + 120);

    assertThat(wheel.nowTick).isEqualTo(65_536 + 10);
    assertThat(model.pollAll()).containsExactlyElementsOf(early);
    assertThat(model.runTo(65_536 + 120)).containsExactly(late);
    assertThat(model.runTo(65_536 + 200)).containsExactlyElementsOf(others);
  }

  /** Opens a slot of level 2 with one poll, which leaves half of it. */
  private List<Node> halfOpenSlot(long nowTick, long deadlineTick) {
    List<Node> timeouts = model.startAt(deadlineTick, 2 * BUDGET);
    model.advanceTo(nowTick);
    assertThat(model.poll()).isNull();
    assertThat(model.slotMates(timeouts.get(BUDGET))).hasSize(BUDGET);
    return timeouts;
  }

  // Costs

  @Test
  void aStallOfHoursCostsOneStepPerOccupiedSlot() {
    int count = 300;
    for (int i = 0; i < count; i++) {
      model.startAt(1 + i * (3 * HOUR / count));
    }
    model.advanceTo(3 * HOUR);
    int polls = 0;
    for (int fired = 0; fired < count; polls++) {
      fired += model.poll() == null ? 0 : 1;
    }
    // Each is moved twice at most; more polls would mean that ticks were walked.
    assertThat(polls).isBetween(count, count + 2 * count / BUDGET);
    assertThat(model.poll()).isNull();
    assertThat(wheel.nowTick).isEqualTo(3 * HOUR);
  }

  @Test
  void aStallOfYearsCostsOnePoll() {
    Node timeout = model.startAt(7 * YEAR + 12_345);
    model.advanceTo(250 * YEAR);
    assertThat(model.poll()).isSameAs(timeout);
    assertThat(model.poll()).isNull();
    assertThat(wheel.nowTick).isEqualTo(250 * YEAR);
  }

  @Test
  void slotsAreMadeWhenTheyAreFirstNeeded() {
    assertThat(wheel.slots).isEmpty();
    Slot made = slotOf(model.startAt(100_000));
    assertThat(wheel.slots).hasSize(3 * 256).filteredOn(slot -> slot != null).containsExactly(made);
    Slot near = slotOf(model.startAt(5));
    assertThat(wheel.slots).hasSize(3 * 256).contains(made, near);
  }

  @Test
  void aSlotIsUsedAgainInItsTurnOnly() {
    Node timeout = model.startAt(100_000);
    Slot slot = slotOf(timeout);
    assertThat(slot.startTick).isEqualTo(65_536);
    model.stop(timeout);
    Node same = model.startAt(110_000);
    assertThat(slotOf(same)).isSameAs(slot);
    model.stop(same);

    model.runTo(256 * 65_536);
    Slot next = slotOf(model.startAt(257 * 65_536));
    assertThat(next.index).isEqualTo(slot.index);
    assertThat(next).isNotSameAs(slot);
    assertThat(next.startTick).isEqualTo(257 * 65_536);
  }

  // The end

  @Test
  void drainingStopsAtItsLimit() {
    List<Node> timeouts = model.startAt(50, 70);
    timeouts.addAll(model.startAt(100_000, 30));
    timeouts.add(model.startNever());
    assertThat(model.drain(0)).isEmpty();
    List<Node> drained = new ArrayList<>(model.drain(64));
    assertThat(drained).hasSize(64);
    drained.addAll(model.drain(64));
    assertThat(drained).containsExactlyInAnyOrderElementsOf(timeouts);
    assertThat(model.drain(64)).isEmpty();
    assertThat(wheel.nextTick()).isEqualTo(Ticks.NEVER);
  }

  private boolean isOpening() {
    return WheelChecks.isOpening(wheel);
  }

  private Slot slotOf(Node timeout) {
    return WheelChecks.slotOf(wheel, timeout);
  }

  private int levelOf(Node timeout) {
    return slotOf(timeout).index / HierarchicalWheel.SLOTS;
  }
}
