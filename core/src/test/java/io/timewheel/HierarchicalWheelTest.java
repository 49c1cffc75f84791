// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the hierarchical wheel with scripts. Ticks are 1 ms. {@link WheelModel} checks the whole
 * wheel after every line.
 */
class HierarchicalWheelTest {
  private static final long TICK_NANOS = 1_000_000;
  private static final long SECOND = 1_000;
  private static final long HOUR = 3_600 * SECOND;
  private static final long YEAR = 365 * 24 * HOUR;
  private static final int BUDGET = Wheel.POLL_BUDGET;

  private final WheelModel model = new WheelModel(0, TICK_NANOS, HierarchicalWheel::new);
  private final HierarchicalWheel wheel = (HierarchicalWheel) model.wheel;

  // Due timeouts

  @Test
  void everythingFiresAtItsTickAndNothingBefore() {
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
  @Tag("promise-9")
  void timeoutsOfOneTickFireInTheOrderInWhichTheyWereAdded() {
    List<Node> timeouts = model.startAt(10, 5);
    assertThat(model.runTo(10)).containsExactlyElementsOf(timeouts);
  }

  @Test
  @Tag("promise-8")
  void timeoutsFireInTheOrderOfTheirTicksHoweverLateTheyArePolled() {
    Node third = model.startAt(2 * HOUR);
    Node first = model.startAt(30);
    Node fourth = model.startAt(2 * HOUR + 1);
    Node second = model.startAt(5 * SECOND);
    assertThat(model.runTo(YEAR)).containsExactly(first, second, third, fourth);
  }

  @ParameterizedTest
  @ValueSource(longs = {256, 2 * 256, 65_536, 3 * 65_536, 16_777_216, 4_294_967_296L})
  void timeoutDueAtTheStartOfAHigherSlotFiresThen(long startTick) {
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
  void nextPollReturnsTimeoutsAlreadyDueWhenAdded() {
    model.runTo(100);
    Node late = model.start(TICK_NANOS, 20 * TICK_NANOS);
    assertThat(wheel.nextTick()).isEqualTo(100);
    assertThat(model.poll()).isSameAs(late);
  }

  @Test
  @Tag("promise-5")
  void timeoutThatIsNeverDueStaysUntilTheEndOfTime() {
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

  // Cancelling and moving

  @Test
  void aStoppedTimeoutLeavesAtOnceAndNeverFires() {
    Node stopped = model.startAt(50);
    Node other = model.startAt(5000);
    model.stop(stopped);
    assertThat(wheel.nextTick()).isEqualTo(5000);
    assertThat(model.runTo(4999)).isEmpty();
    assertThat(model.runTo(5000)).containsExactly(other);
  }

  /**
   * A bound that is too early causes one unnecessary wake-up. A walk along the slot for the exact
   * bound would cost more.
   */
  @Test
  void stoppingTheEarliestKeepsTheBound() {
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
  void movingWithinASlotPutsTheTimeoutLast() {
    Node first = model.startAt(30);
    Node second = model.startAt(30);
    model.moveTo(first, 30);
    assertThat(model.runTo(30)).containsExactly(second, first);
  }

  @Test
  void movingToThePastMakesItDueAtOnce() {
    model.runTo(100);
    Node timeout = model.startAt(HOUR);
    model.move(timeout, 0, 10 * TICK_NANOS);
    assertThat(model.pollAll()).containsExactly(timeout);
  }

  // Time

  @Test
  void shortDelayAfterAnIdleHourIsKeptFinely() {
    long turn = HOUR / 256 * 256; // the start of a turn of level 0
    model.advanceTo(turn);
    assertThat(levelOf(model.startAt(turn + 255))).isZero();
    assertThat(levelOf(model.startAt(turn + 256))).isEqualTo(1);
    assertThat(wheel.nowTick).isEqualTo(turn);
  }

  @Test
  void wheelFollowsTimeUpToTheFirstOccupiedSlot() {
    Node far = model.startAt(10 * 65_536 + 4000);
    model.advanceTo(9 * 65_536);
    model.startAt(10 * 65_536);
    assertThat(wheel.nowTick).isEqualTo(9 * 65_536);

    model.advanceTo(10 * 65_536 + 100);
    assertThat(levelOf(model.startAt(10 * 65_536 + 101))).isEqualTo(2);
    assertThat(wheel.nowTick).isEqualTo(10 * 65_536 - 1);

    // The next poll opens the slot, and the order is correct again.
    assertThat(model.runTo(10 * 65_536 + 101)).hasSize(2);
    assertThat(levelOf(model.startAt(10 * 65_536 + 102))).isZero();
    assertThat(model.runTo(10 * 65_536 + 4000)).contains(far);
  }

  @Test
  void wheelFollowsTimeAgainOnceThatSlotIsEmpty() {
    Node inTheWay = model.startAt(65_536 + 4000);
    model.advanceTo(65_536 + 100);
    Node coarse = model.startAt(65_536 + 101);
    assertThat(levelOf(coarse)).isEqualTo(2);
    model.stop(inTheWay);
    model.stop(coarse);
    model.advanceTo(65_536 + 101); // it catches up once per tick
    assertThat(levelOf(model.startAt(65_536 + 102))).isZero();
    assertThat(wheel.nowTick).isEqualTo(65_536 + 101);
  }

  @Test
  void movingFollowsTimeLikeAdding() {
    Node timeout = model.startAt(2 * HOUR);
    model.advanceTo(HOUR);
    model.moveTo(timeout, HOUR + 5);
    assertThat(wheel.nowTick).isEqualTo(HOUR);
    assertThat(levelOf(timeout)).isZero();
  }

  @Test
  void addingDoesNotSkipDueTimeouts() {
    Node due = model.startAt(10);
    model.advanceTo(20);
    Node next = model.startAt(21);
    assertThat(wheel.nowTick).isZero();
    assertThat(wheel.nextTick()).isEqualTo(10);
    assertThat(model.pollAll()).containsExactly(due);
    assertThat(model.runTo(21)).containsExactly(next);
  }

  /** Otherwise, a timeout at level 0 in a slot of the next 256 ticks would count as due at once. */
  @Test
  @Tag("promise-6")
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
  void pollWithAnOldTimeDoesNotTurnTheWheelBack() {
    model.runTo(100);
    Node timeout = model.startAt(101);
    assertThat(model.poll(50)).isNull();
    assertThat(wheel.nowTick).isEqualTo(100);
    assertThat(model.runTo(101)).containsExactly(timeout);
  }

  // The last slot

  @Test
  void lastSlotIsNotReusedOnceTimeReachesIt() {
    Node coarse = model.startAt(300);
    assertThat(levelOf(coarse)).isEqualTo(1);
    model.stop(coarse);
    model.advanceTo(256);
    assertThat(levelOf(model.startAt(300))).isZero();
  }

  @Test
  void lastSlotIsNotReusedOnceOpened() {
    Node first = model.startAt(300);
    model.startAt(310);
    assertThat(model.runTo(300)).containsExactly(first);
    Node later = model.startAt(320);
    assertThat(levelOf(later)).isZero();
    assertThat(model.runTo(320)).hasSize(2).endsWith(later);
  }

  @Test
  void alternatingDelaysFindTheirSlots() {
    Node near = model.startAt(5);
    Node far = model.startAt(70_000);
    Node nearAgain = model.startAt(5);
    Node farAgain = model.startAt(70_001);
    assertThat(model.slotMates(near)).containsExactly(near, nearAgain);
    assertThat(model.slotMates(far)).containsExactly(far, farAgain);
  }

  // Marks

  @Test
  void nextSearchRemovesTheMarkOfAnEmptySlot() {
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
  void farSlotCausesNoWakeUpBeforeItsEarliestDeadline() {
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

  /**
   * So {@code nowTick} never enters an occupied slot, and slots opened ahead of time need no
   * special rule.
   */
  @Test
  void aSlotOpensBeforeTimeEntersItAndMovesDownByOneLevel() {
    Node first = model.startAt(5 * 65_536 + 3008);
    Node second = model.startAt(5 * 65_536 + 3009);
    Node third = model.startAt(5 * 65_536 + 9000);
    model.advanceTo(6 * 65_536);
    assertThat(model.poll()).isSameAs(first);
    assertThat(wheel.nowTick).isEqualTo(5 * 65_536 + 3008);
    assertThat(levelOf(second)).isZero();
    assertThat(levelOf(third)).isEqualTo(1);
  }

  // Opening a slot

  @Test
  void openingSpansSeveralPolls() {
    List<Node> timeouts = model.startAt(65_536 + 100, 3 * BUDGET);
    model.advanceTo(65_536 + 50);
    for (int left = 3 * BUDGET; left > BUDGET; left -= BUDGET) {
      assertThat(model.poll()).isNull();
      assertThat(wheel.cutShort).isTrue();
      assertThat(wheel.nowTick).isEqualTo(65_535);
      assertThat(wheel.nextTick()).isEqualTo(65_535);
      assertThat(isOpening()).isTrue();
      assertThat(model.slotMates(timeouts.get(3 * BUDGET - 1))).hasSize(left - BUDGET);
    }
    model.pollAll();
    assertThat(isOpening()).isFalse();
    assertThat(wheel.nextTick()).isEqualTo(65_536 + 100);
    assertThat(model.runTo(65_536 + 100)).containsExactlyElementsOf(timeouts);
  }

  @Test
  void openingHandsOutTimeoutsDueBeforeTheSlot() {
    List<Node> timeouts = halfOpenSlot(65_536, 65_536 + 200);
    Node due = model.start(0, 0);
    assertThat(model.poll()).isSameAs(due);
    assertThat(isOpening()).isTrue();
    assertThat(model.runTo(65_536 + 200)).containsExactlyElementsOf(timeouts);
  }

  /** A slot of level 2, and the slots of level 1 into which it was opened. */
  @Test
  void oneBudgetServesAllTheSlotsThatAPollOpens() {
    List<Node> timeouts = model.startAt(65_536 + 600, BUDGET / 2 + 8);
    model.advanceTo(65_536 + 700);
    assertThat(model.poll()).isNull();
    assertThat(wheel.cutShort).isTrue();
    assertThat(wheel.nowTick).isEqualTo(65_536 + 511);
    assertThat(model.slotMates(timeouts.get(timeouts.size() - 1))).hasSize(16);
    assertThat(model.pollAll()).containsExactlyElementsOf(timeouts);
  }

  /** A timeout added to the slot is not handed out before older ones. */
  @Test
  @Tag("promise-9")
  void timeoutsOfOneTickFireInTheOrderOfStartingThoughTheirSlotIsBeingOpened() {
    List<Node> timeouts = halfOpenSlot(65_536 + 50, 65_536 + 200);
    model.startAt(HOUR); // so that this is not the last slot
    timeouts.add(model.startAt(65_536 + 200));
    assertThat(model.poll()).isNull();
    timeouts.add(model.startAt(65_536 + 200));
    assertThat(isOpening()).isTrue();
    model.pollAll();
    timeouts.add(model.startAt(65_536 + 200));
    assertThat(isOpening()).isFalse();
    assertThat(model.runTo(65_536 + 200)).containsExactlyElementsOf(timeouts);
  }

  @Test
  void addsDuringAnOpening() {
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
  void stopsDuringAnOpening() {
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
  void movingAllTheRestToAnotherSlotEndsTheOpening() {
    List<Node> timeouts = halfOpenSlot(65_536 + 50, 65_536 + 200);
    List<Node> rest = timeouts.subList(BUDGET, timeouts.size());
    rest.forEach(timeout -> model.moveTo(timeout, 2 * 65_536 + 60));
    assertThat(isOpening()).isFalse();
    assertThat(model.runTo(2 * 65_536)).containsExactlyElementsOf(timeouts.subList(0, BUDGET));
    assertThat(model.runTo(2 * 65_536 + 60)).containsExactlyElementsOf(rest);
  }

  @Test
  void movesWithinTheSlotBeingOpened() {
    List<Node> timeouts = halfOpenSlot(65_536 + 50, 65_536 + 200);
    List<Node> rest = timeouts.subList(BUDGET, timeouts.size());
    rest.forEach(timeout -> model.moveTo(timeout, 65_536 + 60));
    assertThat(isOpening()).isTrue();
    assertThat(model.runTo(65_536 + 60)).containsExactlyElementsOf(rest);
  }

  @Test
  void drainsDuringAnOpening() {
    List<Node> timeouts = halfOpenSlot(65_536 + 50, 65_536 + 200);
    List<Node> drained = new ArrayList<>(model.drain(BUDGET + 1));
    assertThat(isOpening()).isTrue();
    drained.addAll(model.drain(10 * BUDGET));
    assertThat(isOpening()).isFalse();
    assertThat(drained).containsExactlyInAnyOrderElementsOf(timeouts);
  }

  /**
   * Otherwise, {@code nowTick} would pass the deadlines of timeouts that are still in the slot, and
   * later timeouts would be handed out before them.
   */
  @Test
  void addingDoesNotSkipTheSlotBeingOpened() {
    List<Node> others = model.startAt(65_536 + 200, BUDGET);
    List<Node> early = model.startAt(65_536 + 10, 2);
    model.advanceTo(65_536 + 10);
    assertThat(model.poll()).isNull(); // the budget was spent on the others

    model.advanceTo(65_536 + 80);
    Node late = model.startAt(65_536 + 120);

    assertThat(wheel.nowTick).isEqualTo(65_535);
    assertThat(model.pollAll()).containsExactlyElementsOf(early);
    assertThat(model.runTo(65_536 + 120)).containsExactly(late);
    assertThat(model.runTo(65_536 + 200)).containsExactlyElementsOf(others);
  }

  // Opening a slot ahead of time

  private static final int LARGE = 4 * BUDGET;

  /** A wheel that opens slots of LARGE or more timeouts ahead of time. */
  private final WheelModel crowded =
      new WheelModel(0, TICK_NANOS, ticks -> new HierarchicalWheel(ticks, LARGE, Slot::new));

  @Test
  void opensALargeSlotTwoSecondsAhead() {
    List<Node> timeouts = crowded.startAt(65_536 + 5 * SECOND, LARGE - 1);
    assertThat(crowded.wheel.nextTick()).isEqualTo(65_536 + 5 * SECOND);
    timeouts.add(crowded.startAt(65_536 + 5 * SECOND));
    assertThat(crowded.wheel.nextTick()).isEqualTo(65_536 - 2 * SECOND);

    assertThat(crowded.runTo(65_536 - 2 * SECOND - 1)).isEmpty();
    assertThat(crowded.wheel.nextTick()).isEqualTo(65_536 - 2 * SECOND);
    crowded.openAhead();
    assertThat(crowded.slotMates(timeouts.get(0))).as("too early").hasSize(LARGE);

    assertThat(crowded.runTo(65_536 - 2 * SECOND)).isEmpty();
    for (int left = LARGE - BUDGET; left > 0; left -= BUDGET) {
      assertThat(crowded.wheel.nextTick()).isEqualTo(crowded.wheel.nowTick);
      crowded.openAhead();
      assertThat(crowded.slotMates(timeouts.get(LARGE - 1))).hasSize(left);
    }
    crowded.openAhead();
    assertThat(WheelChecks.slotOf(crowded.wheel, timeouts.get(0)).startTick)
        .isEqualTo((65_536 + 5 * SECOND) / 256 * 256);
    assertThat(crowded.runTo(65_536 + 5 * SECOND)).containsExactlyElementsOf(timeouts);
  }

  /**
   * The clock advances during the opening, and timeouts that are due before the slot still fire on
   * time.
   */
  @Test
  void openingDoesNotDelayEarlierTimeouts() {
    List<Node> timeouts = crowded.startAt(65_536 + 5, LARGE);
    assertThat(crowded.runTo(65_536 - 200)).isEmpty();
    for (int i = 1; i < 100; i++) {
      Node due = crowded.startAt(65_536 - 200 + i);
      crowded.openAhead();
      assertThat(crowded.runTo(65_536 - 200 + i)).containsExactly(due);
    }
    assertThat(levelIn(crowded, timeouts.get(0))).isZero();
    assertThat(crowded.runTo(65_536 + 5)).containsExactlyElementsOf(timeouts);
  }

  @Test
  void additionsToAnOpenedSlotKeepTheirOrder() {
    List<Node> timeouts = crowded.startAt(65_536 + 5, LARGE);
    assertThat(crowded.runTo(65_536 - 200)).isEmpty();
    timeouts.add(crowded.startAt(65_536 + 5));
    openAllAhead();
    timeouts.add(crowded.startAt(65_536 + 5));
    Node before = crowded.startAt(65_536 + 4);
    Node after = crowded.startAt(65_536 + 300);
    assertThat(levelIn(crowded, before)).isZero();
    assertThat(levelIn(crowded, after)).isEqualTo(1);
    assertThat(crowded.runTo(65_536 + 4)).containsExactly(before);
    assertThat(crowded.runTo(65_536 + 5)).containsExactlyElementsOf(timeouts);
    assertThat(crowded.runTo(65_536 + 300)).containsExactly(after);
  }

  @Test
  void slotOpenedAheadIsCancelledAndRefilled() {
    List<Node> timeouts = crowded.startAt(65_536 + 5, LARGE);
    assertThat(crowded.runTo(65_536 - 200)).isEmpty();
    crowded.openAhead();
    timeouts.forEach(crowded::stop);
    List<Node> others = crowded.startAt(65_536 + 6, 3);
    assertThat(crowded.runTo(65_536 + 6)).containsExactlyElementsOf(others);
  }

  /** When the slot is due, only half of it has been opened. The polls open the rest. */
  @Test
  void pollsOpenTheRestOfASlotOnTime() {
    List<Node> timeouts = crowded.startAt(65_536 + 5, LARGE);
    assertThat(crowded.runTo(65_536 - 200)).isEmpty();
    crowded.openAhead();
    assertThat(crowded.runTo(65_536 + 4)).isEmpty();
    assertThat(crowded.runTo(65_536 + 5)).containsExactlyElementsOf(timeouts);
  }

  @Test
  void aStallOverAnOpenedSlotLosesNothing() {
    List<Node> timeouts = crowded.startAt(65_536 + 5, LARGE);
    timeouts.addAll(crowded.startAt(3 * 65_536 + 7, LARGE));
    timeouts.add(crowded.startAt(HOUR));
    assertThat(crowded.runTo(65_536 - 200)).isEmpty();
    openAllAhead();
    assertThat(crowded.runTo(2 * HOUR)).containsExactlyElementsOf(timeouts);
  }

  private void openAllAhead() {
    while (crowded.wheel.nextTick() == crowded.wheel.nowTick) {
      crowded.openAhead();
    }
  }

  // Arrays

  @Test
  void cancelsFromTheArrayThatKeepsManyOfOneTick() {
    List<Node> timeouts = crowded.startAt(2 * 256 + 5, LARGE);
    assertThat(crowded.runTo(256 + 10)).isEmpty();
    openAllAhead();
    Slot slot = WheelChecks.slotOf(crowded.wheel, timeouts.get(0));
    assertThat(slot.array).startsWith(timeouts.toArray(new Node[0]));

    Node added = crowded.startAt(2 * 256 + 5);
    for (int i : new int[] {0, 100, LARGE - 1}) {
      crowded.stop(timeouts.get(i));
      assertThat(slot.array).doesNotContain(timeouts.get(i));
    }
    crowded.moveTo(timeouts.get(50), 2 * 256 + 6);
    Node moved = timeouts.get(50);
    timeouts.removeAll(List.of(timeouts.get(0), moved, timeouts.get(100), timeouts.get(LARGE - 1)));
    timeouts.add(added);
    assertThat(crowded.runTo(2 * 256 + 5)).containsExactlyElementsOf(timeouts);
    assertThat(crowded.runTo(2 * 256 + 6)).containsExactly(moved);
  }

  @Test
  void dropsAnArrayThatIsAllCancelled() {
    List<Node> timeouts = crowded.startAt(2 * 256 + 5, LARGE);
    crowded.runTo(256 + 10);
    openAllAhead();
    Slot slot = WheelChecks.slotOf(crowded.wheel, timeouts.get(0));
    timeouts.forEach(crowded::stop);
    assertThat(crowded.wheel.nextTick()).isEqualTo(Ticks.NEVER);
    assertThat(slot.array).isEmpty();
    Node again = crowded.startAt(2 * 256 + 5);
    assertThat(crowded.runTo(2 * 256 + 5)).containsExactly(again);
  }

  // Lack of memory

  /** Every second allocation of a slot or array fails. */
  private int failures;

  private Slot makeSometimes(int index, long startTick) {
    failWhenOdd();
    return new Slot(index, startTick) {
      @Override
      Node[] enlarged(Node[] array, int length) {
        failWhenOdd();
        return super.enlarged(array, length);
      }
    };
  }

  private void failWhenOdd() {
    if (failures++ % 2 == 1) {
      throw new OutOfMemoryError("injected");
    }
  }

  @Test
  void openingResumesOnceThereIsMemory() {
    WheelModel model =
        new WheelModel(
            0, TICK_NANOS, ticks -> new HierarchicalWheel(ticks, LARGE, this::makeSometimes));
    List<Node> timeouts = new ArrayList<>();
    for (int i = 0; i < 2 * LARGE; i++) {
      timeouts.add(retried(() -> model.startAt(65_536 + 300 + timeouts.size())));
    }
    model.advanceTo(65_536 + 100_000);
    List<Node> polled = new ArrayList<>();
    while (polled.size() < timeouts.size()) {
      Node timeout = retried(model::poll);
      if (timeout != null) {
        polled.add(timeout);
      }
    }
    assertThat(failures).isGreaterThan(10);
    assertThat(polled).containsExactlyElementsOf(timeouts);
  }

  /** Most places have had a slot in an earlier turn. */
  @Test
  void reusesSlotsOfEarlierTurnsWithoutMemory() {
    WheelModel model =
        new WheelModel(
            0, TICK_NANOS, ticks -> new HierarchicalWheel(ticks, LARGE, this::makeSometimes));
    Node timeout = model.startAt(5);
    Slot slot = WheelChecks.slotOf(model.wheel, timeout);
    assertThat(model.runTo(512)).containsExactly(timeout);
    Node again = model.startAt(512 + 5);
    assertThat(WheelChecks.slotOf(model.wheel, again)).isSameAs(slot);
    assertThat(model.runTo(512 + 5)).containsExactly(again);
  }

  /**
   * An allocation in a full heap costs a garbage collection. Without the reuse, the timer thread
   * stalled for seconds.
   */
  @Test
  void withoutMemorySlotsAreReusedForEightTurns() {
    boolean[] full = {false};
    int[] asked = {0};
    WheelModel model =
        new WheelModel(
            0,
            TICK_NANOS,
            ticks ->
                new HierarchicalWheel(
                    ticks,
                    LARGE,
                    (index, startTick) -> {
                      asked[0]++;
                      if (full[0]) {
                        throw new OutOfMemoryError("injected");
                      }
                      return new Slot(index, startTick);
                    }));
    startAndRunOneByOne(model, HierarchicalWheel.PLACES);
    full[0] = true;
    asked[0] = 0;
    startAndRunOneByOne(model, HierarchicalWheel.REUSES);
    assertThat(asked[0]).isEqualTo(1);
    startAndRunOneByOne(model, HierarchicalWheel.REUSES);
    assertThat(asked[0]).isEqualTo(2);

    full[0] = false;
    startAndRunOneByOne(model, 10);
    assertThat(asked[0]).isEqualTo(12);
  }

  /** At level 0, so the timeouts do not cross the start of a turn. */
  private static void startAndRunOneByOne(WheelModel model, int count) {
    for (int i = 0; i < count; i++) {
      long tick = model.wheel.nowTick + 1;
      if (tick % HierarchicalWheel.SLOTS == 0) {
        model.runTo(tick++);
      }
      Node timeout = model.startAt(tick);
      assertThat(model.runTo(tick)).containsExactly(timeout);
    }
  }

  private static <T> T retried(Supplier<T> operation) {
    while (true) {
      try {
        return operation.get();
      } catch (OutOfMemoryError e) {
        // As the timer thread does.
      }
    }
  }

  private static int levelIn(WheelModel model, Node timeout) {
    return WheelChecks.slotOf(model.wheel, timeout).index / HierarchicalWheel.PLACES;
  }

  /** Opens half of a slot of level 2 with one poll. */
  private List<Node> halfOpenSlot(long nowTick, long deadlineTick) {
    List<Node> timeouts = model.startAt(deadlineTick, 2 * BUDGET);
    model.advanceTo(nowTick);
    assertThat(model.poll()).isNull();
    assertThat(model.slotMates(timeouts.get(BUDGET))).hasSize(BUDGET);
    return timeouts;
  }

  // Costs

  @Test
  @Tag("promise-7")
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
    // Each timeout is moved twice at most. More polls would mean a walk over the ticks.
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
  void makesSlotsOnDemand() {
    assertThat(wheel.slots).isEmpty();
    Slot made = slotOf(model.startAt(100_000));
    assertThat(wheel.slots).hasSize(3 * 512).filteredOn(slot -> slot != null).containsExactly(made);
    Slot near = slotOf(model.startAt(5));
    assertThat(wheel.slots).hasSize(3 * 512).contains(made, near);
  }

  @Test
  void slotIsReusedOnlyInItsTurn() {
    Node timeout = model.startAt(100_000);
    Slot slot = slotOf(timeout);
    assertThat(slot.startTick).isEqualTo(65_536);
    model.stop(timeout);
    Node same = model.startAt(110_000);
    assertThat(slotOf(same)).isSameAs(slot);
    model.stop(same);

    model.runTo(512 * 65_536);
    Slot next = slotOf(model.startAt(513 * 65_536));
    assertThat(next.index).isEqualTo(slot.index);
    assertThat(next).isNotSameAs(slot);
    assertThat(next.startTick).isEqualTo(513 * 65_536);
  }

  // Draining

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
    return slotOf(timeout).index / HierarchicalWheel.PLACES;
  }
}
