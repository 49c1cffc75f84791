// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * The timeouts that a wheel keeps in one place, in the order in which they were added: a doubly
 * linked list through the timeouts themselves.
 *
 * <p>A timeout knows the index of its slot and has no reference to it. A slot is younger or older
 * than most of what is in it, and garbage collectors keep a record of references across ages and
 * regions; neighbours were mostly made at the same time and lie close together. docs/adr/0007 has
 * the figures.
 */
final class Slot {
  /** The position of this slot in its wheel. */
  final int index;

  /** The first tick that this slot is for. */
  final long startTick;

  /**
   * A lower bound of the deadline ticks in this slot, meaningless when it is empty. Adding keeps it
   * exact; removing a timeout leaves it as it is, because the next earliest could only be found by
   * a walk.
   */
  long earliestTick;

  /** The ends of the list, null if it is empty; to be changed here alone. */
  @Nullable Node first;

  @Nullable Node last;

  /** Keeps what lies behind off the lines of the fields above; see {@link Padding}. */
  @SuppressWarnings("unused")
  private @Nullable
  Object t00, t01, t02, t03, t04, t05, t06, t07, t10, t11, t12, t13, t14, t15, t16, t17;

  @SuppressWarnings("unused")
  private @Nullable Object t20, t21, t22, t23, t24, t25;

  Slot(int index, long startTick) {
    this.index = index;
    this.startTick = startTick;
  }

  boolean isEmpty() {
    return first == null;
  }

  /** The timeout that was added first. The slot must not be empty. */
  Node first() {
    return requireNonNull(first);
  }

  /** Appends a timeout that is in no slot. */
  void add(Node timeout, long deadlineTick) {
    Node before = last;
    if (before == null) {
      first = timeout;
      earliestTick = deadlineTick;
    } else {
      before.next = timeout;
      timeout.prev = before;
      earliestTick = Math.min(earliestTick, deadlineTick);
    }
    last = timeout;
    timeout.slotIndex(index);
  }

  /** Removes a timeout that is in this slot. */
  void remove(Node timeout) {
    Node before = timeout.prev;
    Node behind = timeout.next;
    if (before == null) {
      first = behind;
    } else {
      before.next = behind;
      timeout.prev = null;
    }
    if (behind == null) {
      last = before;
    } else {
      behind.prev = before;
      timeout.next = null;
    }
  }
}
