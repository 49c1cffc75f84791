// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A timing wheel: a passive, single-threaded structure of pending timeouts that is told the time.
 *
 * <p>It is Varghese and Lauck's facility without a clock: {@link #add} starts a timer, {@link
 * #remove} stops it, the two together move it, and {@link #poll} is the bookkeeping of the ticks
 * that have passed. A wheel counts in ticks since its timer was made, never reads a clock, takes no
 * lock and knows nothing of tasks and states; its caller holds the lock of the {@link Stripe} that
 * it belongs to.
 *
 * <p>The time passed to {@code add}, {@code move} and {@code poll} may stand still; a time before
 * {@code nowTick} counts as {@code nowTick}.
 */
abstract sealed class Wheel extends Padding permits HashedWheel, HierarchicalWheel {
  /**
   * How many timeouts one {@link #poll} may touch before it returns; this bounds how long its
   * caller holds the lock.
   */
  static final int POLL_BUDGET = 64;

  /**
   * The tick that this wheel has reached. Everything due before it has been polled; what is due at
   * it may not have been.
   */
  long nowTick;

  /** Whether the last {@link #poll} that returned null spent its budget before it was done. */
  boolean cutShort;

  /**
   * Adds a timeout that is in no wheel, in constant time. One that is already due is returned by
   * the next poll.
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
    Slot slot = slotFor(tick); // may run out of memory, so it comes before the removal
    remove(timeout);
    timeout.deadlineNanos(deadlineNanos);
    return file(timeout, slot, tick);
  }

  /** Lets {@code nowTick} follow the time where that costs nothing. */
  abstract void catchUp(long elapsedNanos);

  /** The slot for a deadline that is not before {@code nowTick}; makes it if need be. */
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
   * Removes and returns a timeout that is due at {@code nowTick}. Returns null if there is none, or
   * if this call spent its budget on looking: then it was {@link #cutShort}, and there is more to
   * do.
   *
   * <p>Timeouts of an earlier tick come out before those of a later one, except one that was
   * already due when it was added.
   */
  abstract @Nullable Node poll(long nowTick);

  /**
   * Does what {@link #nextTick} asks for at {@code nowTick} although nothing is due: prepares what
   * will be due soon, within the budget of a poll.
   */
  abstract void openAhead();

  /** Removes timeouts, in any order, until there are none or {@code limit} of them are removed. */
  abstract void drain(Consumer<? super Node> sink, int limit);

  /**
   * The tick at which {@link #poll} or {@link #openAhead} next has something to do: never later
   * than the earliest deadline. It is earlier only while a slot is half done, to be resumed at
   * {@code nowTick}, when so many are due soon that they are prepared, or when the timeout with the
   * earliest deadline of its slot was removed. {@link Ticks#NEVER} if there is no such tick. The
   * search may remove marks of empty slots.
   */
  abstract long nextTick();
}
