// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A single wheel (scheme 6 of Varghese and Lauck). A timeout is kept in the slot of its deadline
 * tick modulo the number of slots, however many turns of the wheel away it is.
 *
 * <h2>Structure</h2>
 *
 * The number of slots is a power of two. One bit per slot marks it as occupied, and an occupied
 * slot has a lower bound of the ticks in it. Timeouts hold no count of remaining rounds. The wheel
 * visits a slot only at a tick at which a timeout in it may be due. So timeouts of later turns cost
 * nothing per tick or per turn, and the timer thread sleeps through empty turns.
 *
 * <h2>Visiting a slot</h2>
 *
 * A walk along the slot hands out the due timeouts and passes over the others. It may be long, so
 * it keeps a cursor and spans several polls. Removing the timeout at the cursor advances the
 * cursor. A timeout added during the walk is appended, so the walk reaches it. When the walk ends,
 * the slot's bound is exact again, unless the earliest timeout that it passed has left meanwhile.
 *
 * <h2>Costs</h2>
 *
 * Adding and removing touch one slot. The next tick is cached until it is reached. A new search
 * looks at the occupied slots up to that tick: at most one for each tick that the thread then
 * sleeps through. If nothing is due within a turn, it reads one bound per 64 slots, and then the
 * few slots that may contain the earliest timeout. A visit walks the whole slot, including timeouts
 * of later turns. Give the wheel about as many slots as there are ticks in a typical delay, or use
 * a {@link HierarchicalWheel}.
 */
final class HashedWheel extends Wheel {
  static final int MAX_SLOTS = 1 << 20;

  /** The value for no bound. It counts as reached, so the next tick is searched. */
  private static final long SEARCH = -1;

  final Ticks ticks;

  /** Each slot is created when a timeout first needs it, and then kept. */
  final @Nullable Slot[] slots;

  /** The number of words that hold the bits. */
  final int words;

  /** The bits, one word per 64 slots, between the padding. */
  private final long[] occupied;

  /** A lower bound of the ticks in the slots of each word that is not zero. */
  private final long[] earliestTicks;

  /**
   * The result of {@link #nextTick} while it is after {@code nowTick}. Adding a timeout lowers it.
   * Once it is reached, or its timeout has left, it is searched again.
   */
  private long boundTick = Ticks.NEVER;

  /** The timeout that the visit looks at next; null if no slot is being visited. */
  private @Nullable Node cursor;

  /** The earliest deadline that the walk has passed over. */
  private long passedNanos;

  HashedWheel(Ticks ticks, int slots) {
    this.ticks = ticks;
    this.slots = new Slot[slots];
    this.words = (slots + Long.SIZE - 1) / Long.SIZE;
    this.occupied = new long[PADDING_WORDS + words + PADDING_WORDS];
    this.earliestTicks = new long[PADDING_WORDS + words + PADDING_WORDS];
  }

  /** Does nothing: the place of a timeout does not depend on the time. */
  @Override
  void catchUp(long elapsedNanos) {}

  @Override
  Slot slotFor(long deadlineTick) {
    int index = index(deadlineTick);
    Slot slot = slots[index];
    if (slot == null) {
      slot = new Slot(index, index);
      slots[index] = slot;
    }
    return slot;
  }

  @Override
  boolean file(Node timeout, Slot slot, long deadlineTick) {
    int word = PADDING_WORDS + (slot.index >>> 6);
    if (occupied[word] == 0 || deadlineTick < earliestTicks[word]) {
      earliestTicks[word] = deadlineTick;
    }
    if (deadlineTick < boundTick) {
      boundTick = deadlineTick;
    }
    slot.add(timeout, deadlineTick);
    occupied[word] |= 1L << slot.index;
    return false;
  }

  @Override
  void remove(Node timeout) {
    if (timeout == cursor) {
      stepPast(timeout);
    }
    Slot slot = slotOf(timeout);
    slot.remove(timeout);
    if (slot.isEmpty()) {
      occupied[PADDING_WORDS + (slot.index >>> 6)] &= ~(1L << slot.index);
      if (slot.earliestTick == boundTick) {
        boundTick = SEARCH;
      }
    }
  }

  @Override
  @Nullable Node poll(long tick) {
    long target = Math.max(tick, nowTick);
    for (int budget = POLL_BUDGET; budget > 0; budget--) {
      if (cursor == null) {
        long next = nextTick();
        if (next > target) {
          nowTick = target;
          cutShort = false;
          return null;
        }
        nowTick = next;
        cursor = slotFor(next).first();
        passedNanos = Long.MAX_VALUE;
      }
      Node timeout = cursor;
      if (timeout.deadlineNanos() <= ticks.nanosAt(nowTick)) {
        remove(timeout);
        return timeout;
      }
      passedNanos = Math.min(passedNanos, timeout.deadlineNanos());
      stepPast(timeout);
    }
    cutShort = true;
    return null;
  }

  /** Does nothing: no timeout moves before it is due. */
  @Override
  void openAhead() {}

  /** Advances the cursor. At the end of the slot, ends the visit and sets the slot's bound. */
  private void stepPast(Node timeout) {
    cursor = timeout.next;
    if (cursor == null) {
      slotOf(timeout).earliestTick = ticks.deadlineTick(passedNanos);
    }
  }

  @Override
  void drain(Consumer<? super Node> sink, int limit) {
    int left = limit;
    for (int word = 0; word < words; word++) {
      while (occupied(word) != 0 && left > 0) {
        Node timeout = slots[(word << 6) | Long.numberOfTrailingZeros(occupied(word))].first();
        remove(timeout);
        sink.accept(timeout);
        left--;
      }
    }
  }

  @Override
  long nextTick() {
    if (cursor != null) {
      return nowTick;
    }
    if (boundTick <= nowTick) {
      boundTick = search();
    }
    return boundTick;
  }

  /**
   * Returns the earliest of the slots' bounds. Skips words that cannot contain it, and makes the
   * bounds of the words that it reads exact.
   */
  private long search() {
    int here = index(nowTick);
    long earliest = Ticks.NEVER;
    int word = here >>> 6;
    long bits = occupied(word) & (-1L << here);
    // The last round reads the first word again, for the bits before the present slot.
    for (int round = 0; round <= words; round++) {
      if (bits != 0 && earliestTicks[PADDING_WORDS + word] < earliest) {
        boolean whole = bits == occupied(word);
        long earliestOfWord = Ticks.NEVER;
        for (; bits != 0; bits &= bits - 1) {
          long tick = slots[(word << 6) | Long.numberOfTrailingZeros(bits)].earliestTick;
          if (tick - nowTick < slots.length) {
            return tick; // within this turn, where the slots are in tick order
          }
          earliestOfWord = Math.min(earliestOfWord, tick);
        }
        if (whole) {
          earliestTicks[PADDING_WORDS + word] = earliestOfWord;
        }
        earliest = Math.min(earliest, earliestOfWord);
      }
      word = (word + 1) & (words - 1);
      bits = occupied(word);
    }
    return earliest;
  }

  private Slot slotOf(Node timeout) {
    return slots[timeout.place()];
  }

  /** Returns the bits of a word. Bit n of word w is set if slot 64 w + n is occupied. */
  long occupied(int word) {
    return occupied[PADDING_WORDS + word];
  }

  private int index(long tick) {
    return (int) tick & (slots.length - 1);
  }
}
