// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SlotTest {
  private final Slot slot = new Slot(17, 128);
  private final WheelTimeout first = timeout();
  private final WheelTimeout second = timeout();
  private final WheelTimeout third = timeout();

  private static WheelTimeout timeout() {
    return new WheelTimeout(ignored -> {}, null, 1);
  }

  @Test
  void isEmptyAtFirst() {
    assertThat(slot.index).isEqualTo(17);
    assertThat(slot.startTick).isEqualTo(128);
    assertThat(slot.isEmpty()).isTrue();
    assertThat(slot.earliestTick).isEqualTo(Wheel.NEVER);
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
  void unlinksFromTheMiddleAndFromBothEnds() {
    slot.add(first, 5);
    slot.add(second, 6);
    slot.add(third, 7);
    assertThat(Slot.unlink(second)).isNull();
    assertList(first, third);
    assertThat(Slot.unlink(third)).isNull();
    assertList(first);
    slot.add(second, 8);
    assertThat(Slot.unlink(first)).isNull();
    assertList(second);
    assertThat(slot.earliestTick).as("a bound still").isEqualTo(5);
  }

  @Test
  void tellsWhenItIsLeftEmpty() {
    slot.add(first, 5);
    assertThat(Slot.unlink(first)).isSameAs(slot);
    assertThat(slot.isEmpty()).isTrue();
    assertThat(slot.earliestTick).isEqualTo(Wheel.NEVER);
    assertList();
  }

  /** A handle that somebody keeps must not keep its former neighbours from being collected. */
  @Test
  void theUnlinkedHoldsOnToNobody() {
    slot.add(first, 5);
    slot.add(second, 6);
    Slot.unlink(first);
    assertThat(first.next).isSameAs(first);
    assertThat(first.prev).isSameAs(first);
  }

  private void assertList(WheelTimeout... expected) {
    Link last = slot;
    for (WheelTimeout timeout : expected) {
      assertThat(last.next).isSameAs(timeout);
      assertThat(timeout.prev).isSameAs(last);
      last = timeout;
    }
    assertThat(last.next).isSameAs(slot);
    assertThat(slot.prev).isSameAs(last);
  }
}
