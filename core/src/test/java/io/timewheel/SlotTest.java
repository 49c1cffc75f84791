// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SlotTest {
  private final Slot slot = new Slot(17, 128);
  private final Node first = timeout();
  private final Node second = timeout();
  private final Node third = timeout();

  private static Node timeout() {
    return new BareNode(1);
  }

  @Test
  void isEmptyAtFirst() {
    assertThat(slot.index).isEqualTo(17);
    assertThat(slot.startTick).isEqualTo(128);
    assertThat(slot.isEmpty()).isTrue();
    assertList();
  }

  @Test
  void appends() {
    slot.add(first, 5);
    slot.add(second, 6);
    assertThat(slot.isEmpty()).isFalse();
    assertThat(slot.first()).isSameAs(first);
    assertList(first, second);
  }

  @Test
  void keepsTheEarliestTickExactWhileAdding() {
    slot.add(first, 5);
    assertThat(slot.earliestTick).isEqualTo(5);
    slot.add(second, 6);
    assertThat(slot.earliestTick).isEqualTo(5);
    slot.add(third, 4);
    assertThat(slot.earliestTick).isEqualTo(4);
  }

  @Test
  void removesFromTheMiddleAndFromBothEnds() {
    slot.add(first, 5);
    slot.add(second, 6);
    slot.add(third, 7);
    slot.remove(second);
    assertList(first, third);
    slot.remove(third);
    assertList(first);
    slot.add(second, 8);
    slot.remove(first);
    assertList(second);
    assertThat(slot.earliestTick).as("a bound still").isEqualTo(5);
  }

  @Test
  void theFirstAfterItWasEmptySetsTheEarliestTickAnew() {
    slot.add(first, 5);
    slot.remove(first);
    assertThat(slot.isEmpty()).isTrue();
    assertList();
    slot.add(second, 9);
    assertThat(slot.earliestTick).isEqualTo(9);
  }

  /** A handle that somebody keeps must not keep its former neighbours from being collected. */
  @Test
  void theRemovedHoldsOnToNobodyAndNobodyToIt() {
    slot.add(first, 5);
    slot.add(second, 6);
    slot.add(third, 7);
    slot.remove(second);
    assertThat(second.next).isNull();
    assertThat(second.prev).isNull();
    slot.remove(first);
    assertThat(first.next).isNull();
    assertThat(third.prev).isNull();
  }

  @Test
  void aTimeoutKnowsItsPlaceAsLongAsItIsPending() {
    slot.add(first, 5);
    assertThat(first.place()).isEqualTo(17);
    assertThat(first.isPending()).isTrue();
    Slot other = new Slot(HashedWheel.MAX_SLOTS - 1, 0);
    slot.remove(first);
    other.add(first, 5);
    assertThat(first.place()).isEqualTo(HashedWheel.MAX_SLOTS - 1);
    assertThat(first.isPending()).isTrue();
    first.settle(1);
    assertThat(first.isPending()).isFalse();
  }

  private void assertList(Node... expected) {
    Node last = null;
    for (Node timeout : expected) {
      assertThat(last == null ? slot.first : last.next).isSameAs(timeout);
      assertThat(timeout.prev).isSameAs(last);
      last = timeout;
    }
    assertThat(last == null ? slot.first : last.next).isNull();
    assertThat(slot.last).isSameAs(last);
  }
}
