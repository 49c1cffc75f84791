// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * Looks at the whole of a wheel and fails if anything in it is not as the comments of the wheels
 * say. It recomputes everything the slow way, and shares no arithmetic with the wheels.
 *
 * <p>The <i>effective</i> tick of a timeout is its deadline tick, or {@code nowTick} if it was
 * already due when it was added: the tick at which the wheel hands it out.
 */
final class WheelChecks {
  private WheelChecks() {}

  /**
   * Checks all that holds between any two operations.
   *
   * @param searching whether to ask for the next tick too, which removes marks of empty slots; not
   *     every time, or no operation ever meets one
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

  /** The slot that a pending timeout is in. */
  static Slot slotOf(Wheel wheel, Node timeout) {
    return slots(wheel)[timeout.slotIndex()];
  }

  private static Slot[] slots(Wheel wheel) {
    return wheel instanceof HierarchicalWheel hierarchical
        ? hierarchical.slots
        : ((HashedWheel) wheel).slots;
  }

  static long effectiveTick(Wheel wheel, Node timeout) {
    Ticks ticks =
        wheel instanceof HierarchicalWheel hierarchical
            ? hierarchical.ticks
            : ((HashedWheel) wheel).ticks;
    return Math.max(ticks.deadlineTick(timeout.deadlineNanos()), wheel.nowTick);
  }

  /** The highest digit in base 256 in which two ticks differ, by dropping digits until none do. */
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

  static int digitOf(long tick, int digit) {
    long rest = tick;
    for (int i = 0; i < digit; i++) {
      rest /= 256;
    }
    return (int) (rest % 256);
  }

  private static long startOf(long tick, int digit) {
    long length = 1;
    for (int i = 0; i < digit; i++) {
      length *= 256;
    }
    return tick / length * length;
  }

  private static void check(HierarchicalWheel wheel, IdentityHashMap<Node, Slot> places) {
    boolean openingFound = false;
    long latestOfLowerLevels = -1;
    for (int number = 0; number < HierarchicalWheel.LEVELS; number++) {
      long latestOfLevel = -1;
      for (int index = 0; index < 256; index++) {
        int place = 256 * number + index;
        Slot slot = place < wheel.slots.length ? wheel.slots[place] : null;
        boolean marked = isMarked(wheel.marks(place / 64), place);
        if (slot == null) {
          require(!marked, "marked, but never made", number, index);
          continue;
        }
        require(slot.index == place, "identity of slot", number, index);
        require(!marked || isOfThisTurn(wheel, slot, number), "an outdated mark", number, index);
        List<Node> content = checkSlot(wheel, slot, places);
        require(marked || content.isEmpty(), "not marked", number, index);
        if (content.isEmpty()) {
          continue;
        }
        int current = digitOf(wheel.nowTick, number);
        openingFound |= slot == wheel.opening;
        if (slot == wheel.opening) {
          require(number > 0, "a slot of level 0 is being opened");
          require(index == current, "the slot being opened is not the current one");
        } else {
          require(
              number == 0 ? index >= current : index > current,
              "level, occupied slot, current slot",
              number,
              index,
              current);
        }
        for (Node timeout : content) {
          long tick = effectiveTick(wheel, timeout);
          int levelOfTick = highestDifferingDigit(tick, wheel.nowTick);
          if (slot == wheel.opening) {
            require(levelOfTick < number, "a tick that was not in the slot being opened", tick);
          } else {
            require(levelOfTick == number, "a tick and its wrong level", tick, number);
            require(digitOf(tick, number) == index, "a tick and its wrong slot", tick, index);
            require(startOf(tick, number) == slot.startTick, "a slot of another turn", tick);
            require(tick > latestOfLowerLevels, "a lower level has later timeouts than", tick);
            latestOfLevel = Math.max(latestOfLevel, tick);
          }
        }
      }
      latestOfLowerLevels = Math.max(latestOfLowerLevels, latestOfLevel);
    }
    require(openingFound == isOpening(wheel), "the slot being opened is not to be found");
    for (int word = 0; word < HierarchicalWheel.WORDS; word++) {
      boolean marked = isMarked(wheel.markedWords, word);
      require(marked == (wheel.marks(word) != 0), "mark of a word without marks", word);
    }
  }

  private static boolean isOfThisTurn(HierarchicalWheel wheel, Slot slot, int level) {
    return level == HierarchicalWheel.LEVELS - 1
        || startOf(slot.startTick, level + 1) == startOf(wheel.nowTick, level + 1);
  }

  static boolean isOpening(HierarchicalWheel wheel) {
    return wheel.opening != null && !wheel.opening.isEmpty();
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

  /** Checks the links and the bound of a slot, and returns what is in it. */
  private static List<Node> checkSlot(Wheel wheel, Slot slot, IdentityHashMap<Node, Slot> places) {
    List<Node> content = new ArrayList<>(0);
    long earliest = Ticks.NEVER;
    Node before = null;
    for (Node timeout = slot.first; timeout != null; timeout = timeout.next) {
      require(timeout.prev == before, "back link in slot", slot.index);
      require(timeout.slotIndex() == slot.index, "in another slot", slot.index);
      // Also ends the walk around a circle.
      require(places.put(timeout, slot) == null, "a timeout is met twice in slot", slot.index);
      content.add(timeout);
      earliest = Math.min(earliest, effectiveTick(wheel, timeout));
      before = timeout;
    }
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

  /** Not AssertJ: this runs some hundred times after every operation. */
  private static void require(boolean condition, String message, Object... figures) {
    if (!condition) {
      throw new AssertionError(message + ": " + Arrays.toString(figures));
    }
  }
}
