// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import org.jspecify.annotations.Nullable;

/**
 * The timeouts that a wheel keeps in one place, in the order in which they were added.
 *
 * <p>The slot is the sentinel of its own circular list. Any timeout can therefore be unlinked
 * without knowing its slot, and the one that leaves a slot empty finds the slot on both its sides,
 * which is how the wheel learns that an occupancy bit must be cleared.
 */
final class Slot extends Link {
  /** The position of this slot in its wheel. */
  final int index;

  /** The first tick that this slot is for. */
  final long startTick;

  /**
   * A lower bound of the deadline ticks in this slot, {@link Wheel#NEVER} when it is empty. Adding
   * keeps it exact; removing a timeout leaves it as it is, because the next earliest could only be
   * found by a walk.
   */
  long earliestTick = Wheel.NEVER;

  /** Keeps the slots of other stripes off the lines of this one. */
  @SuppressWarnings("unused")
  private long p00, p01, p02, p03, p04, p05, p06, p07, p10, p11, p12;

  Slot(int index, long startTick) {
    this.index = index;
    this.startTick = startTick;
  }

  boolean isEmpty() {
    return next == this;
  }

  /** The timeout that was added first. The slot must not be empty. */
  WheelTimeout first() {
    return (WheelTimeout) next;
  }

  /** Appends a timeout that is on no list. */
  void add(WheelTimeout timeout, long deadlineTick) {
    Link last = prev;
    timeout.prev = last;
    timeout.next = this;
    last.next = timeout;
    prev = timeout;
    if (deadlineTick < earliestTick) {
      earliestTick = deadlineTick;
    }
  }

  /**
   * Unlinks a timeout from whichever slot it is in.
   *
   * @return the slot, if this left it empty; else null
   */
  static @Nullable Slot unlink(WheelTimeout timeout) {
    Link prev = timeout.prev;
    Link next = timeout.next;
    prev.next = next;
    next.prev = prev;
    timeout.prev = timeout;
    timeout.next = timeout;
    if (prev == next) {
      Slot emptied = (Slot) prev;
      emptied.earliestTick = Wheel.NEVER;
      return emptied;
    }
    return null;
  }
}
