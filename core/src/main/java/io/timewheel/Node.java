// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * An entry of a wheel: a deadline, the links in its slot, and a state. The wheel uses only one
 * state, {@link #PENDING}. A node is pending exactly while it is in a wheel.
 *
 * <p>The place in the wheel shares a field with the state, which keeps a timeout at 40 bytes. The
 * caller holds the lock of the stripe, unless a method states otherwise. The state is written with
 * release, not volatile: the lock orders writers, and a reader without the lock only needs to see
 * earlier writes. Only the holder of the lock needs the place, so the place is written opaquely.
 */
abstract class Node {
  static final int PENDING = 0;
  static final int STATE_BITS = 3;
  static final int STATE_MASK = (1 << STATE_BITS) - 1;

  /** The number of bits of the field that hold the place. */
  static final int PLACE_BITS = Integer.SIZE - STATE_BITS;

  /** Subclasses use this handle too: they have more states. */
  static final VarHandle STATE;

  private static final VarHandle DEADLINE;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      STATE = lookup.findVarHandle(Node.class, "state", int.class);
      DEADLINE = lookup.findVarHandle(Node.class, "deadlineNanos", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** The neighbours in a list; null at its ends and outside a list. Only {@link Slot} sets them. */
  @Nullable Node prev;

  @Nullable Node next;

  @SuppressWarnings("unused") // read and written through DEADLINE
  private long deadlineNanos;

  /**
   * The state in the lower bits. Above them, while the state is PENDING, the place in the wheel.
   */
  @SuppressWarnings("unused") // read and written through STATE
  private int state;

  Node(long deadlineNanos) {
    this.deadlineNanos = deadlineNanos;
  }

  /** Returns the deadline in elapsed time. Any thread may call this. */
  final long deadlineNanos() {
    return (long) DEADLINE.getOpaque(this);
  }

  final void deadlineNanos(long nanos) {
    DEADLINE.setOpaque(this, nanos);
  }

  /** Returns the state without the place. Any thread may call this. */
  final int state() {
    return (int) STATE.getAcquire(this) & STATE_MASK;
  }

  final boolean isPending() {
    return state() == PENDING;
  }

  /** Changes the state from PENDING to another. */
  final void settle(int newState) {
    STATE.setRelease(this, newState);
  }

  /** Returns the place of this node in the wheel, in the wheel's own encoding. */
  final int place() {
    return (int) STATE.getOpaque(this) >>> STATE_BITS;
  }

  /** Makes the node pending at a place. */
  final void place(int place) {
    STATE.setOpaque(this, place << STATE_BITS | PENDING);
  }

  /** Reads from the cache lines that an expiry needs, at most two. The result has no meaning. */
  abstract int touch();
}
