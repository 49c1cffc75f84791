// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
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
  void firstAdditionAfterEmptyResetsTheEarliestTick() {
    slot.add(first, 5);
    slot.remove(first);
    assertThat(slot.isEmpty()).isTrue();
    assertList();
    slot.add(second, 9);
    assertThat(slot.earliestTick).isEqualTo(9);
  }

  /** A handle that is kept must not keep its former neighbours reachable. */
  @Test
  void removedTimeoutSharesNoReferences() {
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
  void detachedTimeoutsShareNoReferencesAndTheRestIsAList() {
    slot.add(first, 5);
    slot.add(second, 6);
    slot.add(third, 7);
    assertThat(slot.detach(first)).isSameAs(second);
    assertThat(slot.detach(second)).isSameAs(third);
    slot.beginWith(third);
    assertThat(first.next).isNull();
    assertThat(second.prev).isNull();
    assertThat(second.next).isNull();
    assertThat(slot.size()).isEqualTo(1);
    assertList(third);
    assertThat(slot.detach(third)).isNull();
    slot.beginWith(null);
    assertThat(slot.isEmpty()).isTrue();
    assertList();
  }

  @Test
  void pendingTimeoutHasThePlaceOfItsSlot() {
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

  // The array

  @Test
  void takesFromTheArrayBeforeTheList() {
    slot.addToArray(first, 5, 1);
    slot.addToArray(second, 4, 1);
    slot.add(third, 3);
    assertThat(slot.size()).isEqualTo(3);
    assertThat(slot.earliestTick).isEqualTo(3);
    assertThat(slot.take()).isSameAs(first);
    assertThat(slot.take()).isSameAs(second);
    assertThat(slot.take()).isSameAs(third);
    assertThat(slot.isEmpty()).isTrue();
  }

  /** Otherwise, it would be taken before older timeouts. */
  @Test
  void addsToTheListOnceItIsInUse() {
    slot.addToArray(first, 5, 8);
    slot.add(second, 5);
    slot.addToArray(third, 5, 8);
    assertThat(slot.array).containsOnlyOnce(first).doesNotContain(third);
    assertList(second, third);
  }

  @Test
  void arrayDropsRemovedTimeouts() {
    slot.addToArray(first, 5, 8);
    slot.addToArray(second, 5, 8);
    slot.addToArray(third, 5, 8);
    slot.removeFromArray(second.place() >>> Slot.INDEX_BITS);
    assertThat(slot.array).doesNotContain(second);
    assertThat(slot.take()).isSameAs(first);
    assertThat(slot.array).doesNotContain(first).contains(third);
    assertThat(slot.take()).isSameAs(third);
  }

  @Test
  void fullArrayOverflowsToTheList() {
    int more = 10;
    List<Node> added = new ArrayList<>();
    for (int i = 0; i < Slot.MAX_ARRAY + more; i++) {
      Node timeout = timeout();
      slot.addToArray(timeout, 5, 8);
      added.add(timeout);
    }
    assertThat(slot.array).hasSize(Slot.MAX_ARRAY).doesNotContainNull();
    assertThat(slot.first).isSameAs(added.get(Slot.MAX_ARRAY));
    Node last = added.get(Slot.MAX_ARRAY - 1);
    assertThat(last.place() % (1 << Slot.INDEX_BITS)).isEqualTo(17);
    assertThat(last.isPending()).isTrue();
    slot.removeFromArray(last.place() >>> Slot.INDEX_BITS);
    assertThat(added.remove(Slot.MAX_ARRAY - 1)).isSameAs(last);
    for (Node timeout : added) {
      assertThat(slot.take()).isSameAs(timeout);
    }
    assertThat(slot.isEmpty()).isTrue();
  }

  @Test
  void usesTheListWithoutMemoryForAnArray() {
    Slot poor =
        new Slot(17, 128) {
          @Override
          Node[] enlarged(Node[] array, int length) {
            throw new OutOfMemoryError("injected");
          }
        };
    poor.addToArray(first, 5, 8);
    assertThat(poor.first).isSameAs(first);
    assertThat(poor.size()).isEqualTo(1);
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
