// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A timing wheel: a passive, single-threaded structure of pending timeouts, to which its caller
 * passes the time.
 *
 * <p>This is Varghese and Lauck's timer facility without a clock. {@link #add} starts a timer,
 * {@link #remove} stops it, the two together move it, and {@link #poll} is the bookkeeping of the
 * ticks that have passed. A wheel counts ticks since its timer was made. It reads no clock, takes
 * no lock and does not depend on tasks or states. Its caller holds the lock of the {@link Stripe}
 * that it belongs to.
 *
 * <p>The time passed to {@code add}, {@code move} and {@code poll} may stay the same. A time before
 * {@code nowTick} counts as {@code nowTick}.
 */
abstract sealed class Wheel extends Padding permits HashedWheel, HierarchicalWheel {
  /**
   * How many timeouts one {@link #poll} may touch before it returns. This bounds how long its
   * caller holds the lock.
   */
  static final int POLL_BUDGET = 64;

  /**
   * The tick that this wheel has reached. All timeouts due before it have been polled; those due at
   * it may still be in the wheel.
   */
  long nowTick;

  /** True if the last {@link #poll} that returned null spent its budget before it was done. */
  boolean cutShort;

  /**
   * Adds a timeout that is in no wheel, in constant time. The next poll returns it if it is already
   * due.
   *
   * @param deadlineTick the tick of the timeout's deadline
   * @param elapsedNanos the time, which lets an idle wheel catch up
   * @return whether {@link #nextTick} may have become earlier than this deadline
   */
  final boolean add(Node timeout, long deadlineTick, long elapsedNanos) {
    catchUp(elapsedNanos);
    long tick = Math.max(deadlineTick, nowTick);
    return file(timeout, slotFor(tick), tick);
  }

  /**
   * Moves a timeout that is in this wheel to a new deadline, in constant time.
   *
   * @see #add
   */
  final boolean move(Node timeout, long deadlineNanos, long deadlineTick, long elapsedNanos) {
    catchUp(elapsedNanos);
    long tick = Math.max(deadlineTick, nowTick);
    Slot slot = slotFor(tick); // may run out of memory, so it precedes the removal
    remove(timeout);
    timeout.deadlineNanos(deadlineNanos);
    return file(timeout, slot, tick);
  }

  /** Advances {@code nowTick} towards the current time, as far as this needs no work on slots. */
  abstract void catchUp(long elapsedNanos);

  /** Returns the slot for a deadline that is not before {@code nowTick}. Makes it if necessary. */
  abstract Slot slotFor(long deadlineTick);

  /**
   * Appends a timeout to a slot and marks the slot as occupied.
   *
   * @return whether {@link #nextTick} may have become earlier than this deadline
   */
  abstract boolean file(Node timeout, Slot slot, long deadlineTick);

  /** Removes a timeout that is in this wheel, in constant time. */
  abstract void remove(Node timeout);

  /**
   * Removes and returns a timeout that is due at {@code nowTick}. Returns null if there is none.
   * Also returns null and sets {@link #cutShort} if this call spent its budget on the search; the
   * caller must then poll again.
   *
   * <p>Timeouts of an earlier tick are returned before those of a later one, except a timeout that
   * was already due when it was added.
   */
  abstract @Nullable Node poll(long nowTick);

  /**
   * Prepares timeouts that will be due soon, within the budget of a poll. {@link #nextTick} asks
   * for this at {@code nowTick} although nothing is due.
   */
  abstract void openAhead();

  /** Removes timeouts, in any order, until there are none or {@code limit} of them are removed. */
  abstract void drain(Consumer<? super Node> sink, int limit);

  /**
   * Returns the tick at which {@link #poll} or {@link #openAhead} next has something to do. Returns
   * {@link Ticks#NEVER} if there is nothing to do. The search may remove marks of empty slots.
   *
   * <p>The result is never later than the earliest deadline. It is earlier in three cases:
   *
   * <ul>
   *   <li>A slot is partly processed, and the work continues at {@code nowTick}.
   *   <li>Many timeouts are due soon, and the wheel must prepare them.
   *   <li>The timeout with the earliest deadline of its slot was removed.
   * </ul>
   */
  abstract long nextTick();
}
