// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The timeouts that a wheel keeps in one place, in the order in which they were added. They are in
 * an array, which most slots do not have, followed by a doubly linked list through the timeouts
 * themselves.
 *
 * <p>A timeout knows its place but has no reference to its slot. A slot is younger or older than
 * most of its timeouts, and garbage collectors record references across ages and regions.
 * Neighbours in a list were mostly made at the same time and lie close together.
 * docs/internals/adr/0007 has the figures.
 *
 * <p>Timeouts that move down from a higher level to be due together are scattered in memory. A list
 * of them would have all those references, and a walk along it would be a series of cache misses.
 * If there are many, they are kept in an array. The array is as young as the slot, and {@link
 * #take} reads from many of its timeouts at once, so the misses overlap. docs/internals/adr/0008
 * has the figures.
 */
class Slot {
  /** The bits of a place that number the slot, in a wheel that has arrays. */
  static final int INDEX_BITS = 12;

  /**
   * The maximum length of the array. Its positions fit next to the index, and garbage collectors
   * handle arrays of this length well.
   */
  static final int MAX_ARRAY = 1 << 16;

  private static final int TOUCHED_AHEAD = 32;
  private static final @Nullable Node[] NO_ARRAY = new Node[0];

  /** The position of this slot in its wheel. */
  final int index;

  /** The first tick of this slot. */
  long startTick;

  /**
   * A lower bound of the deadline ticks in this slot; meaningless if the slot is empty. Adding
   * keeps it exact. Removing leaves it unchanged, because only a walk could find the next earliest
   * tick.
   */
  long earliestTick;

  /** The number of timeouts in this slot. */
  private int size;

  /**
   * The position from which {@link #take} takes the next timeout of the array, and the first free
   * position.
   */
  int head;

  int tail;

  /** Keeps the compiler from dropping the reads that prefetch. The value has no meaning. */
  @SuppressWarnings("unused")
  private int touched;

  /** The array. An element is null once its timeout has left. */
  @Nullable Node[] array = NO_ARRAY;

  /** The ends of the list; null if it is empty. Only this class changes them. */
  @Nullable Node first;

  @Nullable Node last;

  /** Keeps the memory that follows off the cache lines of the fields above; see {@link Padding}. */
  @SuppressWarnings("unused")
  private @Nullable
  Object t00, t01, t02, t03, t04, t05, t06, t07, t10, t11, t12, t13, t14, t15, t16, t17;

  @SuppressWarnings("unused")
  private @Nullable Object t20;

  Slot(int index, long startTick) {
    this.index = index;
    this.startTick = startTick;
  }

  final boolean isEmpty() {
    return size == 0;
  }

  final int size() {
    return size;
  }

  /** Returns the first timeout of the list, which must not be empty. */
  final Node first() {
    return requireNonNull(first);
  }

  /** Appends a timeout to the list. The timeout must be in no slot. */
  final void add(Node timeout, long deadlineTick) {
    count(deadlineTick);
    Node before = last;
    if (before == null) {
      first = timeout;
    } else {
      before.next = timeout;
      timeout.prev = before;
    }
    last = timeout;
    timeout.place(index);
  }

  /**
   * Appends a timeout to the array; to the list if the array is full or the list is in use. The
   * timeout must be in no slot.
   *
   * @param expected how many timeouts are likely to follow
   */
  final void addToArray(Node timeout, long deadlineTick, int expected) {
    if (last != null || (tail == array.length && !grow(expected))) {
      add(timeout, deadlineTick);
      return;
    }
    count(deadlineTick);
    array[tail++] = timeout;
    timeout.place((tail << INDEX_BITS) | index);
  }

  private void count(long deadlineTick) {
    earliestTick = size == 0 ? deadlineTick : Math.min(earliestTick, deadlineTick);
    size++;
  }

  /**
   * Enlarges the full array. Returns false if it has its maximum length, or if there is no memory;
   * the caller then uses the list.
   */
  private boolean grow(int expected) {
    if (tail == MAX_ARRAY) {
      return false;
    }
    try {
      array = enlarged(array, Math.min(MAX_ARRAY, Math.max(expected, tail + (tail >> 1) + 1)));
      return true;
    } catch (OutOfMemoryError e) {
      return false;
    }
  }

  /** Tests override it to run out of memory. */
  @Nullable Node[] enlarged(@Nullable Node[] array, int length) {
    return Arrays.copyOf(array, length);
  }

  final boolean hasArray() {
    return array.length > 0;
  }

  /** Removes a timeout that is in the list. */
  final void remove(Node timeout) {
    size--;
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

  /**
   * Unlinks the first timeout of the list, and returns the next one. The slot still refers to the
   * unlinked timeout, because G1 executes a fence for each such reference that an old slot
   * receives. The caller unlinks any number of timeouts, and then calls {@link #beginWith}.
   */
  final @Nullable Node detach(Node timeout) {
    size--;
    Node behind = timeout.next;
    timeout.prev = null;
    timeout.next = null;
    return behind;
  }

  /** Makes the result of the last {@link #detach} the first timeout; null empties the list. */
  final void beginWith(@Nullable Node timeout) {
    first = timeout;
    if (timeout == null) {
      last = null;
    } else {
      timeout.prev = null;
    }
  }

  /** Removes a timeout from the array. The position is the part of its place above the index. */
  final void removeFromArray(int position) {
    array[position - 1] = null;
    size--;
  }

  /** Drops the array, which must be empty. */
  final void dropArray() {
    array = NO_ARRAY;
    head = 0;
    tail = 0;
  }

  /** Removes the timeout that was added first. The slot must not be empty. */
  final Node take() {
    while (head < tail) {
      if (head % TOUCHED_AHEAD == 0) {
        touchAhead();
      }
      Node timeout = array[head];
      array[head++] = null;
      if (timeout != null) {
        size--;
        return timeout;
      }
    }
    Node timeout = first();
    remove(timeout);
    return timeout;
  }

  private void touchAhead() {
    int sum = 0;
    for (int i = head; i < Math.min(head + TOUCHED_AHEAD, tail); i++) {
      Node timeout = array[i];
      if (timeout != null) {
        sum += timeout.touch();
      }
    }
    touched = sum;
  }
}
