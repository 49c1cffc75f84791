// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A wheel of wheels (scheme 7 of Varghese and Lauck). One structure covers one tick to 292 years.
 * Each level has 256 slots per turn, and is made when it is first needed.
 *
 * <h2>Structure</h2>
 *
 * A tick is read as a number of eight digits in base 256: its bytes. The wheel compares the
 * deadline of a timeout with {@code nowTick}. The highest digit in which they differ determines the
 * level, and the value of this digit in the deadline determines the slot. With a tick of 1 ms that
 * gives:
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
 * Granularity is the length of a slot. Range is the exclusive bound on delays that are kept at this
 * level or below if they are added at the start of the level's turn. Levels 6 and 7 hold deadlines
 * only if ticks are below 33 µs. With any tick, they hold timeouts that are never due.
 *
 * <p>More slots per level mean fewer levels, and fewer moves of a timeout on its way down.
 * docs/internals/adr/0007 has the figures.
 *
 * <h2>Two turns</h2>
 *
 * A level has places for 512 slots: those of its current turn, and those of the next one. One slot
 * of the level above stands for the whole next turn. The wheel uses the slots of the next turn once
 * that slot is opened, at or before its start. So timeouts moved down ahead of time never share a
 * place with the current turn.
 *
 * <h2>Invariants</h2>
 *
 * <ol>
 *   <li>Levels are disjoint in time: every timeout at a level is due before every timeout at a
 *       higher level, except those still in a slot that is being opened. The first occupied slot
 *       (one that is not empty) of the lowest occupied level therefore holds the earliest deadline.
 *       The exception is a slot that begins no later and is being opened, which may hold it.
 *   <li>The slot of the current digit is occupied at level 0 only, where it holds the timeouts that
 *       are due now. {@code nowTick} never passes an occupied slot, and never enters one above
 *       level 0. So every timeout is at the level that invariant 1 requires, without being moved.
 *   <li>An occupied slot covers the ticks from its {@code startTick} on. These belong to the
 *       current turn of its level, or to the next one if that is open.
 *   <li>Only the slot after that of the current digit is opened: at most one slot per level.
 *   <li>An occupied slot is marked: its bit is set, and the bit of its word. Two bit searches find
 *       the first marked slot. A marked slot may be empty: a cancel leaves the mark, and the next
 *       search removes it.
 * </ol>
 *
 * <h2>Opening a slot</h2>
 *
 * Before time enters a slot above level 0, its timeouts move down one level. A slot may hold
 * millions of timeouts, so opening spans several polls. Until it ends, {@link #nextTick} returns
 * {@code nowTick}, {@code nowTick} stays before the slot, and timeouts due before the slot are
 * handed out. A timeout added while a slot is being opened is appended to it and moves down in its
 * turn. One added later goes to the lower level at once. So timeouts of one tick are handed out in
 * the order in which they were added.
 *
 * <p>{@link #openAhead} opens a slot of {@link #LARGE_SLOT} or more timeouts ahead of time, from
 * {@link #LEAD_NANOS} before its start. For this, {@code nextTick} is earlier than the earliest
 * deadline. Opening a smaller slot delays no timeout by more than a millisecond. At level 0, large
 * numbers of timeouts are kept in arrays; see {@link Slot}.
 *
 * <h2>Sleeping past slots</h2>
 *
 * A slot above level 0 has the earliest deadline of its timeouts. The next tick of the wheel is
 * that deadline, not the start of the slot. So the timer thread does not wake only to move distant
 * timeouts down. In return, {@code nowTick} stays before the slot's start while the clock runs on.
 * A timeout added meanwhile is kept at a higher level than necessary, and moves once more if it is
 * still there at the next poll. That poll also advances {@code nowTick}.
 *
 * <h2>The last slot</h2>
 *
 * Starting a timeout is a chain of dependent steps, and computing the slot is a large part of it.
 * Most applications use only a few different delays. So the wheel first tries the last slot, and
 * the processor continues speculatively while the wheel checks the slot. The slot is valid for its
 * range of deadlines until it is opened, or {@code nowTick} reaches it.
 *
 * <h2>A slot lives for one turn</h2>
 *
 * When the wheel returns to a place, it makes a new slot for it. A slot that is kept would soon be
 * in the old generation of a garbage collector. Each timeout added to it would be a reference from
 * old to young, which collectors record in tables that all threads write to. A timeout and a slot
 * of about the same age need no such record. docs/internals/adr/0001 has the figures.
 *
 * <p>So opening a slot may require new slots. If there is no memory for one, the wheel reuses the
 * empty slot of an earlier turn. It then reuses the next ones too, because each request to a full
 * heap would cost a collection. If there is no empty slot, the opening fails before it moves
 * anything.
 *
 * <h2>Costs</h2>
 *
 * Adding and removing touch one slot. The first addition in a tick also removes the stale marks
 * before the first occupied slot, each mark once. A timeout moves down at most once per level. A
 * stall of any length costs one step per marked slot and nothing for the ticks in between.
 */
final class HierarchicalWheel extends Wheel {
  private static final int DIGIT_BITS = Byte.SIZE;
  static final int SLOTS = 1 << DIGIT_BITS;
  static final int LEVELS = Long.SIZE / DIGIT_BITS;

  private static final int TURN_BITS = DIGIT_BITS + 1;

  /** The number of places of a level. */
  static final int PLACES = 1 << TURN_BITS;

  static final int WORDS = LEVELS * PLACES / Long.SIZE;
  private static final int WORDS_OF_TURN = SLOTS / Long.SIZE;
  private static final int WORDS_OF_LEVEL = PLACES / Long.SIZE;

  /** The size of a large slot. Moving it down one level takes about a millisecond. */
  static final int LARGE_SLOT = 1 << 14;

  /**
   * The lead time with which the wheel starts to open a large slot. It suffices to move many
   * millions of timeouts down.
   */
  static final long LEAD_NANOS = 2_000_000_000L;

  private static final int FIRST_ARRAY = 64;

  /**
   * After a failed allocation, the number of slots to reuse before the next allocation: the slots
   * of eight turns.
   */
  static final int REUSES = 8 * SLOTS;

  private static final int INDEX_MASK = (1 << Slot.INDEX_BITS) - 1;

  // Not in the superclass: with a reference field there, the JVM places the references of this
  // class before its other fields, not after them.
  final Ticks ticks;

  private final SlotFactory factory;
  final int largeSlot;

  /** The number of slots still to be reused before the next allocation is tried. */
  private int reuses;

  /**
   * The slots of level 0, then those of level 1, and so on, up to the highest level that a timeout
   * has needed. A place is the lowest digits of the tick, with one more bit for the turn.
   */
  @Nullable Slot[] slots = new Slot[0];

  /** Bit w is set if word w of {@link #marks} has any bit set. There is one bit per word. */
  long markedWords;

  /** The words, between the padding: bit n of word w is set if slot 64 w + n is marked. */
  private final long[] marks = new long[PADDING_WORDS + WORDS + PADDING_WORDS];

  /** Bit l is set if the slot after that of the current digit of level l is being opened. */
  int opening;

  /** Bit l is set if that slot has been opened, and the next turn of the level below is in use. */
  int opened;

  private final long leadTicks;

  /**
   * The slot of level 0 from which a poll last took a timeout. While it is the slot of {@code
   * nowTick} and not empty, no slot precedes it.
   */
  private @Nullable Slot lastTaken;

  /**
   * The time from which {@link #catchUp} searches again: the start of the tick after its last
   * search.
   */
  private long catchUpNanos;

  // The last slot. Its ticks are those that lastMask turns into lastStartTick, which is -1 if there
  // is no last slot: a tick is never negative. A place in the table goes to another slot only after
  // time has passed the previous one.
  private long lastMask;
  private long lastStartTick = -1;
  private int lastIndex;

  /** Keeps the memory that follows off the cache line of the fields above; see {@link Padding}. */
  @SuppressWarnings("unused")
  private @Nullable
  Object t00, t01, t02, t03, t04, t05, t06, t07, t10, t11, t12, t13, t14, t15, t16, t17;

  HierarchicalWheel(Ticks ticks) {
    this(ticks, LARGE_SLOT, Slot::new);
  }

  /** For tests, which use fewer timeouts. */
  HierarchicalWheel(Ticks ticks, int largeSlot, SlotFactory factory) {
    this.ticks = ticks;
    this.largeSlot = largeSlot;
    this.factory = factory;
    this.leadTicks = ticks.tickAt(LEAD_NANOS);
  }

  /** Makes slots. Tests pass a factory that runs out of memory. */
  interface SlotFactory {
    Slot make(int index, long startTick);
  }

  /**
   * Brings {@code nowTick} as close to the time as the timeouts in the slots allow. Otherwise, a
   * short delay after an idle hour would land in a slot that is an hour long.
   */
  @Override
  void catchUp(long elapsedNanos) {
    if (elapsedNanos < catchUpNanos) {
      return;
    }
    long tick = ticks.tickAt(elapsedNanos);
    catchUpNanos = ticks.nanosAt(tick + 1);
    if (tick <= nowTick) {
      return;
    }
    Slot slot = next();
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
    if (opened != 0) {
      level = belowOpened(level, deadlineTick);
    }
    Slot slot = slotAt(level, deadlineTick);
    lastIndex = slot.index;
    lastStartTick = slot.startTick;
    lastMask = -length(level);
    return slot;
  }

  private int belowOpened(int level, long tick) {
    int below = level;
    while ((opened >>> below & 1) != 0 && number(below, tick) == number(below, nowTick) + 1) {
      below--;
    }
    return below;
  }

  /** Returns the slot of a level for a tick. Makes it if necessary. */
  private Slot slotAt(int level, long tick) {
    int index = indexAt(level, tick);
    if (index >= slots.length) {
      slots = Arrays.copyOf(slots, (level + 1) * PLACES);
    }
    Slot slot = slots[index];
    long startTick = number(level, tick) << (level * DIGIT_BITS);
    if (slot == null || slot.startTick != startTick) {
      slot = makeSlot(slot, index, startTick);
      slots[index] = slot;
    }
    return slot;
  }

  private Slot makeSlot(@Nullable Slot former, int index, long startTick) {
    if (former == null || reuses == 0) {
      try {
        return factory.make(index, startTick);
      } catch (OutOfMemoryError e) {
        if (former == null) {
          throw e;
        }
        reuses = REUSES;
      }
    }
    reuses--;
    former.startTick = startTick;
    return former;
  }

  @Override
  boolean file(Node timeout, Slot slot, long deadlineTick) {
    if (slot.isEmpty()) {
      mark(slot);
    }
    slot.add(timeout, deadlineTick);
    return slot.size() == largeSlot;
  }

  private void mark(Slot slot) {
    int word = slot.index >>> 6; // a shift, because division also handles the sign
    marks[PADDING_WORDS + word] |= 1L << slot.index;
    markedWords |= 1L << word;
  }

  @Override
  void remove(Node timeout) {
    int place = timeout.place();
    Slot slot = slots[place & INDEX_MASK];
    if (place > INDEX_MASK) {
      slot.removeFromArray(place >>> Slot.INDEX_BITS);
    } else {
      slot.remove(timeout);
    }
  }

  @Override
  @Nullable Node poll(long tick) {
    Slot last = lastTaken;
    if (last != null && last.startTick == nowTick && !last.isEmpty()) {
      return last.take();
    }
    long target = Math.max(tick, nowTick);
    int budget = POLL_BUDGET;
    while (true) {
      Slot slot = next();
      if (slot == null || slot.startTick > target) {
        advanceTo(target);
        cutShort = false;
        return null;
      }
      int level = levelOf(slot);
      if (level == 0) {
        advanceTo(slot.startTick);
        lastTaken = slot;
        return slot.take();
      }
      if (budget == 0) {
        cutShort = true;
        return null;
      }
      advanceTo(Math.max(nowTick, slot.startTick - 1));
      budget = open(slot, level, budget);
    }
  }

  @Override
  void openAhead() {
    Slot slot = next();
    if (opening != 0) {
      int level = Integer.numberOfTrailingZeros(opening);
      open(slotBehindCurrent(level), level, POLL_BUDGET);
      return;
    }
    while (slot != null) {
      int level = levelOf(slot);
      if (level > 0 && openingTick(slot, level) <= nowTick) {
        open(slot, level, POLL_BUDGET);
        return;
      }
      slot = firstOccupied(level + 1);
    }
  }

  @Override
  void drain(Consumer<? super Node> sink, int limit) {
    Slot slot = firstOccupied(0);
    for (int left = limit; slot != null && left > 0; left--) {
      sink.accept(slot.take());
      slot = firstOccupied(0);
    }
  }

  @Override
  long nextTick() {
    Slot slot = next();
    if (opening != 0) {
      return nowTick;
    }
    long earliest = slot == null ? Ticks.NEVER : slot.earliestTick;
    while (slot != null) {
      int level = levelOf(slot);
      if (level > 0) {
        earliest = Math.min(earliest, Math.max(nowTick, openingTick(slot, level)));
      }
      slot = firstOccupied(level + 1);
    }
    return earliest;
  }

  /**
   * Returns the tick from which to open a slot ahead of time; {@link Ticks#NEVER} if that is not
   * worthwhile.
   */
  private long openingTick(Slot slot, int level) {
    return slot.size() < largeSlot
        ? Ticks.NEVER
        : slot.startTick - Math.min(leadTicks, length(level));
  }

  /**
   * Moves timeouts of the slot after that of the current digit down one level. Returns the rest of
   * the budget.
   */
  private int open(Slot slot, int level, int budget) {
    opening |= 1 << level;
    int left = budget;
    Node timeout = slot.first;
    try {
      for (; left > 0 && timeout != null; left--) {
        long tick = ticks.deadlineTick(timeout.deadlineNanos());
        Slot lower = slotAt(level - 1, tick);
        boolean inArray = level == 1 && (slot.size() >= largeSlot || lower.hasArray());
        Node moving = timeout;
        timeout = slot.detach(moving); // so that the list stays valid if the rest fails
        if (lower.isEmpty()) {
          mark(lower);
        }
        if (inArray) {
          lower.addToArray(moving, tick, FIRST_ARRAY + (slot.size() + slot.size() / 4) / SLOTS);
        } else {
          lower.add(moving, tick);
        }
      }
    } finally {
      slot.beginWith(timeout);
    }
    return left;
  }

  /**
   * Returns the occupied slot that has the earliest deadline, or that may have it because it is
   * being opened. Also records the end of an opening, whether its last timeout was moved or
   * cancelled.
   */
  private @Nullable Slot next() {
    Slot next = firstOccupied(0);
    for (int levels = opening; levels != 0; levels &= levels - 1) {
      int level = Integer.numberOfTrailingZeros(levels);
      Slot slot = slotBehindCurrent(level);
      if (slot.isEmpty()) {
        opening &= ~(1 << level);
        opened |= 1 << level;
        lastStartTick = -1; // this may be the last slot; it accepts no more timeouts
      } else if (next == null || slot.startTick <= next.startTick) {
        next = slot;
      }
    }
    return next;
  }

  private Slot slotBehindCurrent(int level) {
    return slots[indexAt(level, nowTick + length(level))];
  }

  private void advanceTo(long tick) {
    if ((opening | opened) != 0) {
      // At these levels, the current digit now stands for another slot.
      int passed = (2 << levelOf(tick)) - 1;
      opening &= ~passed;
      opened &= ~passed;
    }
    nowTick = tick;
    if (tick >= lastStartTick) {
      lastStartTick = -1;
    }
  }

  /**
   * Returns the level of a deadline. It is 0 for {@code nowTick} itself: a division by 8 turns -1
   * into 0, and a shift would not.
   */
  private int levelOf(long deadlineTick) {
    return (Long.SIZE - 1 - Long.numberOfLeadingZeros(deadlineTick ^ nowTick)) / DIGIT_BITS;
  }

  private static int levelOf(Slot slot) {
    return slot.index >>> TURN_BITS;
  }

  /** Returns how many ticks a slot of a level stands for. */
  private static long length(int level) {
    return 1L << (level * DIGIT_BITS);
  }

  /** Returns how many slots of a level have begun at or before a tick, since tick 0. */
  private static long number(int level, long tick) {
    return tick >>> (level * DIGIT_BITS);
  }

  private static int indexAt(int level, long tick) {
    return (level << TURN_BITS) | ((int) number(level, tick) & (PLACES - 1));
  }

  /**
   * Returns the first occupied slot of the lowest occupied level, from {@code fromLevel} up.
   * Removes the marks of empty slots before it.
   */
  private @Nullable Slot firstOccupied(int fromLevel) {
    if (fromLevel == LEVELS) {
      return null;
    }
    long below = (1L << (fromLevel * WORDS_OF_LEVEL)) - 1;
    while ((markedWords & ~below) != 0) {
      int word = firstMarkedWord(markedWords & ~below);
      long bits = marks(word);
      Slot slot = slots[word * Long.SIZE + Long.numberOfTrailingZeros(bits)];
      if (!slot.isEmpty()) {
        return slot;
      }
      slot.dropArray();
      bits &= bits - 1;
      marks[PADDING_WORDS + word] = bits;
      if (bits == 0) {
        markedWords &= ~(1L << word);
      }
    }
    return null;
  }

  /**
   * Returns the first marked word. The words of the current turn come first; in every second turn
   * they are the upper half.
   */
  private int firstMarkedWord(long words) {
    int word = Long.numberOfTrailingZeros(words);
    int level = word / WORDS_OF_LEVEL;
    if ((number(level, nowTick) & SLOTS) != 0) {
      int firstOfTurn = level * WORDS_OF_LEVEL + WORDS_OF_TURN;
      long ofTurn = words & (((1L << WORDS_OF_TURN) - 1) << firstOfTurn);
      if (ofTurn != 0) {
        return Long.numberOfTrailingZeros(ofTurn);
      }
    }
    return word;
  }

  /** Returns the marks of the slots from 64 times {@code word}. */
  long marks(int word) {
    return marks[PADDING_WORDS + word];
  }
}
