// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A wheel of wheels (scheme 7 of Varghese and Lauck): from one tick to 292 years in one structure,
 * with 256 slots a level and no level that is not needed.
 *
 * <h2>Structure</h2>
 *
 * A tick is read as a number of eight digits in base 256: its bytes. A timeout is kept at the level
 * of the highest digit in which its deadline differs from {@code nowTick}, in the slot that this
 * digit of the deadline names. With a tick of 1 ms that gives:
 *
 * <pre>
 *  level  granularity in ticks  range in ticks       granularity  range, tick of 1 ms
 *  0      1                     256                  1 ms         256 ms
 *  1      256                   65536                256 ms       1 min 5 s
 *  2      65536                 16777216             1 min 5 s    4 h 39 min
 *  3      16777216              4294967296           4 h 39 min   49 d 17 h
 *  4      4294967296            1099511627776        49 d 17 h    34 y 315 d
 *  5      1099511627776         281474976710656      34 y 315 d   292 y
 *  6      281474976710656       72057594037927936
 *  7      72057594037927936     9223372036854775807
 * </pre>
 *
 * Granularity is the length of a slot; range is the delay, exclusive, that is sure to be kept at
 * this level or below when it is added at the start of the level's turn. Levels 6 and 7 take
 * deadlines only with ticks below 33 µs, and what is never due with any tick.
 *
 * <p>The more slots a level has, the fewer levels there are, and the fewer times a timeout is moved
 * on its way down. docs/adr/0007 has the figures.
 *
 * <h2>Invariants</h2>
 *
 * <ol>
 *   <li>Levels are disjoint in time: whatever is at a level is due before whatever is at a higher
 *       one, except for the slot that is being opened. The first occupied slot (one that is not
 *       empty) of the lowest occupied level therefore holds the earliest deadline. No search wraps:
 *       a slot before the current digit is always empty.
 *   <li>The slot of the current digit is occupied at level 0 only (it holds what is due now), and
 *       at the level of the slot that is being opened.
 *   <li>An occupied slot stands for the ticks of the present turn of its level, from its {@code
 *       startTick} on.
 *   <li>{@code nowTick} never passes an occupied slot, and enters one above level 0 only by opening
 *       it, so every timeout stays at the level that invariant 1 gives it without being moved.
 *   <li>An occupied slot is marked: its bit is set, and the bit of its word. Two bit searches find
 *       the first marked slot. It may be empty: a cancel leaves the mark to the next search, which
 *       removes it.
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
 * <h2>The slot of last time</h2>
 *
 * Starting a timeout is a chain of steps that wait for one another, and to work out the slot is a
 * good part of it. Most timeouts of a program have one of a few delays, so the slot that was found
 * last is tried first: while it is checked, the processor already goes on with it. It remains the
 * right slot for the deadlines that lie in it until {@code nowTick} reaches it.
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
 * Adding and removing touch one slot; the first to add in a tick also removes the marks in front
 * that others left, each mark once. A timeout is moved at most once per level, and only if it is
 * neither cancelled nor moved before. A stall of any length costs one step per marked slot, nothing
 * for the ticks in between.
 */
final class HierarchicalWheel extends Wheel {
  private static final int DIGIT_BITS = Byte.SIZE;
  static final int SLOTS = 1 << DIGIT_BITS;
  static final int LEVELS = Long.SIZE / DIGIT_BITS;
  static final int WORDS = LEVELS * SLOTS / Long.SIZE;

  // Not in the superclass: after a reference there, a JVM puts those of this class first, not last.
  final Ticks ticks;

  /**
   * The slots of level 0, then those of level 1, and so on, up to the highest level that a timeout
   * has needed.
   */
  @Nullable Slot[] slots = new Slot[0];

  /** Bit w is set if any is set in word w; there are as many words as bits here. */
  int markedWords;

  /** The words, between the padding: bit n of word w is set if slot 64 w + n is marked. */
  private final long[] marks = new long[PADDING_WORDS + WORDS + PADDING_WORDS];

  /** The slot that is being opened; null, or empty, if none is. */
  @Nullable Slot opening;

  /**
   * The time from which {@link #catchUp} looks again: the start of the tick after its last look.
   */
  private long catchUpNanos;

  // The slot of last time: its ticks are those that lastMask leaves equal to lastStartTick. None is
  // -1, for a tick is never negative. A place in the table is given to another slot by slotFor
  // alone, which then remembers that one, so what is at lastIndex is always the slot meant.
  private long lastMask;
  private long lastStartTick = -1;
  private int lastIndex;

  /** Keeps what lies behind off the line of the fields above; see {@link Padding}. */
  @SuppressWarnings("unused")
  private @Nullable
  Object t00, t01, t02, t03, t04, t05, t06, t07, t10, t11, t12, t13, t14, t15, t16, t17;

  HierarchicalWheel(Ticks ticks) {
    this.ticks = ticks;
  }

  /**
   * Brings {@code nowTick} as near to the time as what is in the slots allows, so that a short
   * delay after an idle hour is not filed in an hour's slot.
   */
  @Override
  void catchUp(long elapsedNanos) {
    if (elapsedNanos < catchUpNanos) {
      return;
    }
    long tick = ticks.tickAt(elapsedNanos);
    catchUpNanos = ticks.nanosAt(tick + 1);
    if (tick <= nowTick || isOpening()) {
      return;
    }
    Slot slot = firstOccupied();
    if (slot == null || slot.startTick > tick) {
      advanceTo(tick);
    } else if (levelOf(slot) > 0) {
      advanceTo(slot.startTick - 1);
    }
  }

  @Override
  Slot slotFor(long deadlineTick) {
    if ((deadlineTick & lastMask) == lastStartTick) {
      return slots[lastIndex];
    }
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
    lastIndex = index;
    lastStartTick = startTick;
    lastMask = -1L << shift;
    return slot;
  }

  @Override
  void file(Node timeout, Slot slot, long deadlineTick) {
    if (slot.isEmpty()) {
      int word = slot.index >>> 6; // a division takes longer, for it minds the sign
      marks[PADDING_WORDS + word] |= 1L << slot.index;
      markedWords |= 1 << word;
    }
    slot.add(timeout, deadlineTick);
  }

  @Override
  void remove(Node timeout) {
    slotOf(timeout).remove(timeout);
  }

  @Override
  @Nullable Node poll(long tick) {
    long target = Math.max(tick, nowTick);
    int budget = POLL_BUDGET;
    while (true) {
      if (opening != null) {
        budget = open(opening, budget);
        if (!opening.isEmpty()) {
          Slot first = firstOccupied();
          return first != null && first != opening && first.startTick == nowTick
              ? take(first)
              : null;
        }
        opening = null;
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
  void drain(Consumer<? super Node> sink, int limit) {
    Slot slot = firstOccupied();
    for (int left = limit; slot != null && left > 0; left--) {
      Node timeout = slot.first();
      remove(timeout);
      sink.accept(timeout);
      slot = firstOccupied();
    }
  }

  @Override
  long nextTick() {
    if (isOpening()) {
      return nowTick;
    }
    Slot slot = firstOccupied();
    return slot == null ? Ticks.NEVER : slot.earliestTick;
  }

  /**
   * Files timeouts of the slot that is being opened anew, and returns what is left of the budget.
   */
  private int open(Slot slot, int budget) {
    int left = budget;
    for (; left > 0 && !slot.isEmpty(); left--) {
      Node timeout = slot.first();
      long tick = ticks.deadlineTick(timeout.deadlineNanos());
      Slot lower = slotFor(tick);
      slot.remove(timeout);
      file(timeout, lower, tick);
    }
    return left;
  }

  private static Node take(Slot slot) {
    Node first = slot.first();
    slot.remove(first);
    return first;
  }

  private Slot slotOf(Node timeout) {
    return slots[timeout.slotIndex()];
  }

  private boolean isOpening() {
    return opening != null && !opening.isEmpty();
  }

  private void advanceTo(long tick) {
    nowTick = tick;
    if (tick >= lastStartTick) {
      lastStartTick = -1;
    }
  }

  /** Level 0 for {@code nowTick} itself: a division by 8 takes -1 to 0, which a shift would not. */
  private int levelOf(long deadlineTick) {
    return (Long.SIZE - 1 - Long.numberOfLeadingZeros(deadlineTick ^ nowTick)) / DIGIT_BITS;
  }

  private static int levelOf(Slot slot) {
    return slot.index / SLOTS;
  }

  /** Removes the marks of the empty slots before it. */
  private @Nullable Slot firstOccupied() {
    while (markedWords != 0) {
      int word = Integer.numberOfTrailingZeros(markedWords);
      long bits = marks(word);
      Slot slot = slots[word * Long.SIZE + Long.numberOfTrailingZeros(bits)];
      if (!slot.isEmpty()) {
        return slot;
      }
      bits &= bits - 1;
      marks[PADDING_WORDS + word] = bits;
      if (bits == 0) {
        markedWords &= markedWords - 1;
      }
    }
    return null;
  }

  /** The marks of the slots from 64 times {@code word} on. */
  long marks(int word) {
    return marks[PADDING_WORDS + word];
  }
}
