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
   * @return every timeout of the wheel and the slot that it is in
   */
  static IdentityHashMap<WheelTimeout, Slot> check(Wheel wheel) {
    IdentityHashMap<WheelTimeout, Slot> places = new IdentityHashMap<>();
    if (wheel instanceof HierarchicalWheel hierarchical) {
      check(hierarchical, places);
    } else {
      check((HashedWheel) wheel, places);
    }
    checkNextTick(wheel, places);
    return places;
  }

  /** The slot that a timeout is in, found by following the list. */
  static Slot slotOf(WheelTimeout timeout) {
    Link link = timeout.next;
    while (link instanceof WheelTimeout) {
      require(link != timeout, "in no slot");
      link = link.next;
    }
    return (Slot) link;
  }

  static long effectiveTick(Wheel wheel, WheelTimeout timeout) {
    Ticks ticks =
        wheel instanceof HierarchicalWheel hierarchical
            ? hierarchical.ticks
            : ((HashedWheel) wheel).ticks;
    return Math.max(ticks.deadlineTick(timeout.deadlineNanos()), wheel.nowTick);
  }

  /** The highest digit in base 64 in which two ticks differ, by dropping digits until none do. */
  static int highestDifferingDigit(long one, long other) {
    int digits = 0;
    long rest = one;
    long otherRest = other;
    while (rest != otherRest) {
      rest /= 64;
      otherRest /= 64;
      digits++;
    }
    return Math.max(0, digits - 1);
  }

  static int digitOf(long tick, int digit) {
    long rest = tick;
    for (int i = 0; i < digit; i++) {
      rest /= 64;
    }
    return (int) (rest % 64);
  }

  private static long startOf(long tick, int digit) {
    long length = 1;
    for (int i = 0; i < digit; i++) {
      length *= 64;
    }
    return tick / length * length;
  }

  private static void check(HierarchicalWheel wheel, IdentityHashMap<WheelTimeout, Slot> places) {
    boolean openingFound = false;
    long latestOfLowerLevels = -1;
    for (int number = 0; number < HierarchicalWheel.LEVELS; number++) {
      boolean levelMarked = (wheel.occupiedLevels >> number & 1) != 0;
      require(levelMarked == (wheel.occupied(number) != 0), "mark of level", number);
      long latestOfLevel = -1;
      for (int index = 0; index < 64; index++) {
        int place = 64 * number + index;
        Slot slot = place < wheel.slots.length ? wheel.slots[place] : null;
        boolean marked = (wheel.occupied(number) >> index & 1) != 0;
        if (slot == null) {
          require(!marked, "marked, but never made", number, index);
          continue;
        }
        require(slot.index == place, "identity of slot", number, index);
        List<WheelTimeout> content = checkSlot(wheel, slot, places);
        require(marked == !content.isEmpty(), "mark of slot", number, index);
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
        for (WheelTimeout timeout : content) {
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
    require(openingFound == (wheel.opening != null), "the slot being opened is empty");
  }

  private static void check(HashedWheel wheel, IdentityHashMap<WheelTimeout, Slot> places) {
    for (int index = 0; index < wheel.slots.length; index++) {
      Slot slot = wheel.slots[index];
      boolean marked = (wheel.occupied(index / 64) >> (index % 64) & 1) != 0;
      if (slot == null) {
        require(!marked, "marked, but never made", index);
        continue;
      }
      require(slot.index == index, "identity of slot", index);
      List<WheelTimeout> content = checkSlot(wheel, slot, places);
      require(marked == !content.isEmpty(), "mark of slot", index);
      for (WheelTimeout timeout : content) {
        long tick = effectiveTick(wheel, timeout);
        require(tick % wheel.slots.length == index, "a tick and its wrong slot", tick, index);
      }
    }
    for (int bit = wheel.slots.length; bit < wheel.words * 64; bit++) {
      require((wheel.occupied(bit / 64) >> (bit % 64) & 1) == 0, "a mark, but no slot", bit);
    }
  }

  /** Checks the links and the bound of a slot, and returns what is in it. */
  private static List<WheelTimeout> checkSlot(
      Wheel wheel, Slot slot, IdentityHashMap<WheelTimeout, Slot> places) {
    List<WheelTimeout> content = new ArrayList<>(0);
    require(slot.next.prev == slot, "back link to slot", slot.index);
    long earliest = Wheel.NEVER;
    for (Link link = slot.next; link != slot; link = link.next) {
      require(link instanceof WheelTimeout, "leads into another slot", slot.index);
      require(link.next.prev == link, "back link in slot", slot.index);
      WheelTimeout timeout = (WheelTimeout) link;
      // Also ends the walk around a circle that the slot is no part of.
      require(places.put(timeout, slot) == null, "a timeout is met twice in slot", slot.index);
      content.add(timeout);
      earliest = Math.min(earliest, effectiveTick(wheel, timeout));
    }
    require(slot.isEmpty() == content.isEmpty(), "emptiness of slot", slot.index);
    if (content.isEmpty()) {
      require(slot.earliestTick == Wheel.NEVER, "bound of an empty slot", slot.earliestTick);
    } else {
      require(slot.first() == content.get(0), "first of slot", slot.index);
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

  private static void checkNextTick(Wheel wheel, IdentityHashMap<WheelTimeout, Slot> places) {
    long earliest = Wheel.NEVER;
    for (WheelTimeout timeout : places.keySet()) {
      earliest = Math.min(earliest, effectiveTick(wheel, timeout));
    }
    long next = wheel.nextTick();
    require(next >= wheel.nowTick, "the next tick is before now", next, wheel.nowTick);
    require(next <= earliest, "the next tick is after the earliest deadline", next, earliest);
    if (places.isEmpty()) {
      require(next == Wheel.NEVER, "an empty wheel has something to do at", next);
    }
    if (wheel instanceof HierarchicalWheel hierarchical && hierarchical.opening != null) {
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
