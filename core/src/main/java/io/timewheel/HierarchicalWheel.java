// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.Arrays;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * A wheel of wheels (scheme 7 of Varghese and Lauck): from one tick to 292 years in one structure,
 * with 64 slots a level and no level that is not needed.
 *
 * <h2>Structure</h2>
 *
 * A tick is read as a number of eleven digits in base 64. A timeout is kept at the level of the
 * highest digit in which its deadline differs from {@code nowTick}, in the slot that this digit of
 * the deadline names. With a tick of 1 ms that gives:
 *
 * <pre>
 *  level  granularity in ticks      range in ticks           granularity  range, tick of 1 ms
 *  0      1                         64                       1 ms         64 ms
 *  1      64                        4096                     64 ms        4.096 s
 *  2      4096                      262144                   4.096 s      4 min 22 s
 *  3      262144                    16777216                 4 min 22 s   4 h 39 min
 *  4      16777216                  1073741824               4 h 39 min   12 d 10 h
 *  5      1073741824                68719476736              12 d 10 h    2 y 65 d
 *  6      68719476736               4398046511104            2 y 65 d     139 y
 *  7      4398046511104             281474976710656          139 y        292 y
 *  8      281474976710656           18014398509481984
 *  9      18014398509481984         1152921504606846976
 *  10     1152921504606846976       9223372036854775807
 * </pre>
 *
 * Granularity is the length of a slot; range is the delay, exclusive, that is sure to be kept at
 * this level or below when it is added at the start of the level's turn. Levels 8 to 10 take
 * deadlines only with ticks below 33 µs, and what is never due with any tick.
 *
 * <h2>Invariants</h2>
 *
 * <ol>
 *   <li>Levels are disjoint in time: whatever is at a level is due before whatever is at a higher
 *       one, except for the slot that is being opened. The first occupied slot of the lowest
 *       occupied level therefore holds the earliest deadline, and two bit searches find it. No
 *       search wraps: a slot before the current digit is always empty.
 *   <li>The slot of the current digit is occupied at level 0 only (it holds what is due now), and
 *       at the level of the slot that is being opened.
 *   <li>An occupied slot stands for the ticks of the present turn of its level, from its {@code
 *       startTick} on.
 *   <li>{@code nowTick} never passes an occupied slot, and enters one above level 0 only by opening
 *       it, so every timeout stays at the level that invariant 1 gives it without being moved.
 * </ol>
 *
 * <h2>Opening a slot</h2>
 *
 * When time reaches a slot above level 0, its timeouts are filed anew, each at a lower level.
 * {@code nowTick} is set first, to the earliest deadline in the slot or to the time if that is
 * earlier: no timeout of the slot is before it, and the nearer it is to them, the lower they land.
 * What is due exactly then goes to the <i>current</i> slot of level 0. A slot may hold millions, so
 * opening goes on over several polls; until it ends, {@link #nextTick} answers {@code nowTick}.
 *
 * <h2>Sleeping past slots</h2>
 *
 * A slot above level 0 knows its earliest deadline, and the next tick of the wheel is that
 * deadline, not the start of the slot: timeouts that lie far ahead wake nobody just to be filed
 * anew. The price is that {@code nowTick} must stay before the slot's start while the clock goes
 * on, and that what is added meanwhile is filed more coarsely than it could be, so that it is moved
 * once more if it is still there at the next poll, which ends both.
 *
 * <h2>A slot lives for one turn</h2>
 *
 * When the wheel comes round to a place again, it makes a new slot for it. A slot that lived on
 * would soon be among the old objects of a generational garbage collector, and each timeout added
 * to it a reference from old to young, which the collectors record in tables that all threads write
 * to. A timeout and a slot of about its age need no record. docs/adr/0001 has the figures.
 *
 * <p>So opening a slot may have to make others. If there is no memory for one, nothing has been
 * moved.
 *
 * <h2>Costs</h2>
 *
 * Adding and removing touch one slot. A timeout is moved at most once per level, and only if it is
 * neither cancelled nor moved before. A stall of any length costs one step per occupied slot,
 * nothing for the ticks in between.
 */
final class HierarchicalWheel extends Wheel {
  static final int DIGIT_BITS = 6;
  static final int SLOTS = 1 << DIGIT_BITS;
  static final int LEVELS = (Long.SIZE - 1 + DIGIT_BITS - 1) / DIGIT_BITS;

  // Not in the superclass: after a reference there, a JVM puts those of this class first, not last.
  final Ticks ticks;

  /**
   * The slots of level 0, then those of level 1, and so on, up to the highest level that a timeout
   * has needed.
   */
  @Nullable Slot[] slots = new Slot[0];

  /** Bit n is set if level n is occupied. */
  int occupiedLevels;

  /** One word per level, between the padding: bit n is set if slot n is occupied. */
  private final long[] occupied = new long[PADDING_WORDS + LEVELS + PADDING_WORDS];

  /** The slot that is being opened; null once it is empty. */
  @Nullable Slot opening;

  /**
   * The time from which {@link #catchUp} has something to do: the start of the next tick, or never
   * as long as {@link #blocking} is set.
   */
  private long catchUpNanos;

  /** The slot that {@code nowTick} has to stay before until the next poll, or until it is empty. */
  private @Nullable Slot blocking;

  /** Keeps what lies behind off the line of the fields above; see {@link Padding}. */
  @SuppressWarnings("unused")
  private @Nullable
  Object t00, t01, t02, t03, t04, t05, t06, t07, t10, t11, t12, t13, t14, t15, t16, t17;

  HierarchicalWheel(Ticks ticks) {
    this.ticks = ticks;
  }

  /**
   * Brings {@code nowTick} as near to the time as the occupied slots allow, so that a short delay
   * after an idle hour is not filed in an hour's slot.
   */
  @Override
  void catchUp(long elapsedNanos) {
    if (elapsedNanos < catchUpNanos) {
      return;
    }
    long tick = ticks.tickAt(elapsedNanos);
    Slot slot = opening != null ? opening : firstOccupied();
    if (slot == null || (slot != opening && slot.startTick > tick)) {
      advanceTo(tick);
    } else {
      if (slot != opening && levelOf(slot) > 0) {
        advanceTo(slot.startTick - 1);
      }
      blocking = slot;
      catchUpNanos = Long.MAX_VALUE;
    }
  }

  @Override
  Slot slotFor(long deadlineTick) {
    int level = levelOf(deadlineTick);
    int shift = level * DIGIT_BITS;
    long turn = deadlineTick >>> shift;
    int index = level * SLOTS + ((int) turn & (SLOTS - 1));
    if (index >= slots.length) {
      slots = Arrays.copyOf(slots, (level + 1) * SLOTS);
    }
    Slot slot = slots[index];
    long startTick = turn << shift;
    if (slot == null || slot.startTick != startTick) {
      slot = new Slot(index, startTick);
      slots[index] = slot;
    }
    return slot;
  }

  @Override
  void file(WheelTimeout timeout, Slot slot, long deadlineTick) {
    slot.add(timeout, deadlineTick);
    int level = levelOf(slot);
    occupied[PADDING_WORDS + level] |= 1L << slot.index;
    occupiedLevels |= 1 << level;
  }

  @Override
  void remove(WheelTimeout timeout) {
    Slot emptied = Slot.unlink(timeout);
    if (emptied != null) {
      vacate(emptied);
    }
  }

  @Override
  @Nullable WheelTimeout poll(long tick) {
    long target = Math.max(tick, nowTick);
    int budget = POLL_BUDGET;
    while (true) {
      if (opening != null) {
        budget = open(opening, budget);
        if (opening != null) {
          Slot first = firstOccupied();
          return first != null && first != opening && first.startTick == nowTick
              ? take(first)
              : null;
        }
      }
      Slot slot = firstOccupied();
      if (slot == null || slot.startTick > target) {
        advanceTo(target);
        return null;
      }
      if (levelOf(slot) == 0) {
        advanceTo(slot.startTick);
        return take(slot);
      }
      advanceTo(Math.min(slot.earliestTick, target));
      opening = slot;
    }
  }

  @Override
  void drainTo(Collection<? super WheelTimeout> sink, int limit) {
    Slot slot = firstOccupied();
    for (int left = limit; slot != null && left > 0; left--) {
      WheelTimeout timeout = slot.first();
      sink.add(timeout);
      remove(timeout);
      slot = firstOccupied();
    }
  }

  @Override
  long nextTick() {
    if (opening != null) {
      return nowTick;
    }
    Slot slot = firstOccupied();
    return slot == null ? NEVER : slot.earliestTick;
  }

  /**
   * Files timeouts of the slot that is being opened anew, and returns what is left of the budget.
   */
  private int open(Slot slot, int budget) {
    int left = budget;
    for (; left > 0 && slot == opening; left--) {
      WheelTimeout timeout = slot.first();
      long tick = ticks.deadlineTick(timeout.deadlineNanos());
      Slot lower = slotFor(tick);
      remove(timeout);
      file(timeout, lower, tick);
    }
    return left;
  }

  private WheelTimeout take(Slot slot) {
    WheelTimeout first = slot.first();
    remove(first);
    return first;
  }

  private void vacate(Slot slot) {
    int level = levelOf(slot);
    long rest = occupied(level) & ~(1L << slot.index);
    occupied[PADDING_WORDS + level] = rest;
    if (rest == 0) {
      occupiedLevels &= ~(1 << level);
    }
    if (slot == opening) {
      opening = null;
    }
    if (slot == blocking) {
      advanceTo(nowTick);
    }
  }

  private void advanceTo(long tick) {
    nowTick = tick;
    blocking = null;
    catchUpNanos = ticks.nanosAt(tick + 1);
  }

  private int levelOf(long deadlineTick) {
    return (Long.SIZE - 1 - Long.numberOfLeadingZeros(deadlineTick ^ nowTick)) / DIGIT_BITS;
  }

  private @Nullable Slot firstOccupied() {
    if (occupiedLevels == 0) {
      return null;
    }
    int level = Integer.numberOfTrailingZeros(occupiedLevels);
    return slots[level * SLOTS + Long.numberOfTrailingZeros(occupied(level))];
  }

  /** The bits of one level: bit n is set if slot n is occupied. */
  long occupied(int level) {
    return occupied[PADDING_WORDS + level];
  }

  private static int levelOf(Slot slot) {
    return slot.index / SLOTS;
  }
}
