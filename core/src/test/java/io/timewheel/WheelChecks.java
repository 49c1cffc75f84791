// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * Checks a whole wheel against the invariants in the comments of the wheels. It recomputes
 * everything in a simple and slow way, and shares no arithmetic with the wheels.
 *
 * <p>The <i>effective</i> tick of a timeout is the tick at which the wheel hands it out. That is
 * its deadline tick, or {@code nowTick} if it was already due when it was added.
 */
final class WheelChecks {
  private WheelChecks() {}

  /**
   * Checks everything that holds between any two operations.
   *
   * @param searching whether to read the next tick too, which removes marks of empty slots. Pass
   *     false in most calls, so that some operations run with such marks
   * @return every timeout of the wheel and the slot that it is in
   */
  static IdentityHashMap<Node, Slot> check(Wheel wheel, boolean searching) {
    IdentityHashMap<Node, Slot> places = new IdentityHashMap<>();
    if (wheel instanceof HierarchicalWheel hierarchical) {
      check(hierarchical, places);
    } else {
      check((HashedWheel) wheel, places);
    }
    if (searching) {
      checkNextTick(wheel, places);
    }
    return places;
  }

  /** Returns the slot that a pending timeout is in. */
  static Slot slotOf(Wheel wheel, Node timeout) {
    return wheel instanceof HierarchicalWheel hierarchical
        ? hierarchical.slots[timeout.place() % 4096]
        : ((HashedWheel) wheel).slots[timeout.place()];
  }

  /** Returns the timeouts of a slot, in the order in which they are handed out. */
  static List<Node> content(Slot slot) {
    List<Node> content = new ArrayList<>(0);
    for (int i = slot.head; i < slot.tail; i++) {
      if (slot.array[i] != null) {
        content.add(slot.array[i]);
      }
    }
    for (Node timeout = slot.first; timeout != null; timeout = timeout.next) {
      content.add(timeout);
    }
    return content;
  }

  static long effectiveTick(Wheel wheel, Node timeout) {
    Ticks ticks =
        wheel instanceof HierarchicalWheel hierarchical
            ? hierarchical.ticks
            : ((HashedWheel) wheel).ticks;
    return Math.max(ticks.deadlineTick(timeout.deadlineNanos()), wheel.nowTick);
  }

  /**
   * Returns the position of the highest digit in base 256 in which two ticks differ. Drops digits
   * until the rest is equal.
   */
  static int highestDifferingDigit(long one, long other) {
    int digits = 0;
    long rest = one;
    long otherRest = other;
    while (rest != otherRest) {
      rest /= 256;
      otherRest /= 256;
      digits++;
    }
    return Math.max(0, digits - 1);
  }

  private static long lengthOf(int digit) {
    long length = 1;
    for (int i = 0; i < digit; i++) {
      length *= 256;
    }
    return length;
  }

  private static void check(HierarchicalWheel wheel, IdentityHashMap<Node, Slot> places) {
    long latestOfLowerLevels = -1;
    for (int number = 0; number < HierarchicalWheel.LEVELS; number++) {
      long latestOfLevel = -1;
      for (int index = 0; index < 512; index++) {
        int place = 512 * number + index;
        Slot slot = place < wheel.slots.length ? wheel.slots[place] : null;
        boolean marked = isMarked(wheel.marks(place / 64), place);
        if (slot == null) {
          require(!marked, "marked, but never made", number, index);
          continue;
        }
        require(slot.index == place, "identity of slot", number, index);
        List<Node> content = checkSlot(wheel, slot, places);
        require(marked || content.isEmpty(), "not marked", number, index);
        require(marked || slot.array.length == 0, "the array of an empty slot", number, index);
        if (content.isEmpty()) {
          continue;
        }
        boolean beingOpened = isBeingOpened(wheel, slot);
        long length = lengthOf(number);
        long current = wheel.nowTick / length;
        long own = slot.startTick / length;
        require(own % 512 == index, "the place of a slot", number, index, own);
        require(number == 0 ? own >= current : own > current, "a slot of the past", number, index);
        boolean ofNextTurn = own / 256 == current / 256 + 1 && isOpen(wheel, number + 1);
        require(own / 256 == current / 256 || ofNextTurn, "a slot of another turn", number, index);
        require(number == 0 || slot.array.length == 0, "an array above level 0", number, index);
        for (Node timeout : content) {
          long tick = effectiveTick(wheel, timeout);
          require(tick / length == own, "a tick and its wrong slot", tick, number, index);
          if (!beingOpened) {
            require(levelOf(wheel, tick) == number, "a tick and its wrong level", tick, number);
            require(tick > latestOfLowerLevels, "a lower level has later timeouts than", tick);
            latestOfLevel = Math.max(latestOfLevel, tick);
          }
        }
      }
      latestOfLowerLevels = Math.max(latestOfLowerLevels, latestOfLevel);
    }
    for (int word = 0; word < HierarchicalWheel.WORDS; word++) {
      boolean marked = isMarked(wheel.markedWords, word);
      require(marked == (wheel.marks(word) != 0), "mark of a word without marks", word);
    }
  }

  /** Returns the level for a tick that is not in a slot that is being opened. */
  private static int levelOf(HierarchicalWheel wheel, long tick) {
    int level = highestDifferingDigit(tick, wheel.nowTick);
    while (isOpen(wheel, level) && tick / lengthOf(level) == wheel.nowTick / lengthOf(level) + 1) {
      level--;
    }
    return level;
  }

  /** Returns whether the slot after the current one has been opened, or is being opened. */
  private static boolean isOpen(HierarchicalWheel wheel, int level) {
    return ((wheel.opened | wheel.opening) >> level & 1) != 0;
  }

  static boolean isBeingOpened(HierarchicalWheel wheel, Slot slot) {
    int level = slot.index / 512;
    long length = lengthOf(level);
    return (wheel.opening >> level & 1) != 0
        && slot.startTick / length == wheel.nowTick / length + 1;
  }

  static boolean isOpening(HierarchicalWheel wheel) {
    for (Slot slot : wheel.slots) {
      if (slot != null && !slot.isEmpty() && isBeingOpened(wheel, slot)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isMarked(long word, int index) {
    return (word >> index % 64 & 1) != 0;
  }

  private static void check(HashedWheel wheel, IdentityHashMap<Node, Slot> places) {
    for (int index = 0; index < wheel.slots.length; index++) {
      Slot slot = wheel.slots[index];
      boolean marked = isMarked(wheel.occupied(index / 64), index);
      if (slot == null) {
        require(!marked, "marked, but never made", index);
        continue;
      }
      require(slot.index == index, "identity of slot", index);
      List<Node> content = checkSlot(wheel, slot, places);
      require(marked == !content.isEmpty(), "mark of slot", index);
      for (Node timeout : content) {
        long tick = effectiveTick(wheel, timeout);
        require(tick % wheel.slots.length == index, "a tick and its wrong slot", tick, index);
      }
    }
    for (int bit = wheel.slots.length; bit < wheel.words * 64; bit++) {
      require(!isMarked(wheel.occupied(bit / 64), bit), "a mark, but no slot", bit);
    }
  }

  /** Checks the links and the bound of a slot, and returns its timeouts. */
  private static List<Node> checkSlot(Wheel wheel, Slot slot, IdentityHashMap<Node, Slot> places) {
    List<Node> content = new ArrayList<>(0);
    long earliest = Ticks.NEVER;
    for (int i = 0; i < slot.array.length; i++) {
      Node timeout = slot.array[i];
      if (timeout != null) {
        require(i >= slot.head && i < slot.tail, "beyond the ends of the array", slot.index, i);
        require(timeout.place() == 4096 * (i + 1) + slot.index, "at another place", slot.index, i);
        require(timeout.next == null && timeout.prev == null, "linked", slot.index, i);
        require(places.put(timeout, slot) == null, "a timeout is met twice in slot", slot.index);
        content.add(timeout);
        earliest = Math.min(earliest, effectiveTick(wheel, timeout));
      }
    }
    Node before = null;
    for (Node timeout = slot.first; timeout != null; timeout = timeout.next) {
      require(timeout.prev == before, "back link in slot", slot.index);
      require(timeout.place() == slot.index, "in another slot", slot.index);
      // This also ends the walk along a circular list.
      require(places.put(timeout, slot) == null, "a timeout is met twice in slot", slot.index);
      content.add(timeout);
      earliest = Math.min(earliest, effectiveTick(wheel, timeout));
      before = timeout;
    }
    require(slot.size() == content.size(), "size of slot", slot.index, slot.size());
    require(slot.last == before, "last of slot", slot.index);
    if (!content.isEmpty()) {
      require(
          slot.earliestTick <= earliest,
          "a bound is after the earliest tick",
          slot.earliestTick,
          earliest);
      require(
          slot.earliestTick >= wheel.nowTick || wheel.nextTick() == wheel.nowTick,
          "a bound is before now",
          slot.earliestTick,
          wheel.nowTick);
    }
    return content;
  }

  private static void checkNextTick(Wheel wheel, IdentityHashMap<Node, Slot> places) {
    long earliest = Ticks.NEVER;
    for (Node timeout : places.keySet()) {
      earliest = Math.min(earliest, effectiveTick(wheel, timeout));
    }
    long next = wheel.nextTick();
    require(next >= wheel.nowTick, "the next tick is before now", next, wheel.nowTick);
    require(next <= earliest, "the next tick is after the earliest deadline", next, earliest);
    if (places.isEmpty()) {
      require(next == Ticks.NEVER, "an empty wheel has something to do at", next);
    }
    if (wheel instanceof HierarchicalWheel hierarchical && isOpening(hierarchical)) {
      require(next == wheel.nowTick, "the next tick while a slot is being opened", next);
    }
  }

  /**
   * Fails if a condition is false. Does not use AssertJ, because this runs some hundred times after
   * every operation.
   */
  private static void require(boolean condition, String message, Object... figures) {
    if (!condition) {
      throw new AssertionError(message + ": " + Arrays.toString(figures));
    }
  }
}
