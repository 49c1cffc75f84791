// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * What a wheel keeps: a deadline, the links of its slot, and a state, of which the wheel knows only
 * {@link #PENDING}. A node is pending exactly while it is in a wheel.
 *
 * <p>The place in the wheel shares a field with the state, which keeps a timeout at 40 bytes. The
 * caller holds the lock of the stripe, unless the method says otherwise. The state is written with
 * release, not volatile: the lock orders writers, and a reader without the lock only needs to see
 * what happened before. Only the holder of the lock needs the place, so it is written opaquely.
 */
abstract class Node {
  static final int PENDING = 0;
  static final int STATE_BITS = 3;
  static final int STATE_MASK = (1 << STATE_BITS) - 1;

  /** How many bits of the field hold the place. */
  static final int PLACE_BITS = Integer.SIZE - STATE_BITS;

  /** Subclasses use it too: they have more states. */
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

  /**
   * The neighbours in a list, null at its ends and outside of a list; only {@link Slot} sets them.
   */
  @Nullable Node prev;

  @Nullable Node next;

  @SuppressWarnings("unused") // read and written through DEADLINE
  private long deadlineNanos;

  /** The state in the lower bits; above them, while it is PENDING, the place in the wheel. */
  @SuppressWarnings("unused") // read and written through STATE
  private int state;

  Node(long deadlineNanos) {
    this.deadlineNanos = deadlineNanos;
  }

  /** The deadline in elapsed time. Any thread may ask. */
  final long deadlineNanos() {
    return (long) DEADLINE.getOpaque(this);
  }

  final void deadlineNanos(long nanos) {
    DEADLINE.setOpaque(this, nanos);
  }

  /** The state without what shares its field. Any thread may ask. */
  final int state() {
    return (int) STATE.getAcquire(this) & STATE_MASK;
  }

  final boolean isPending() {
    return state() == PENDING;
  }

  /** Leaves PENDING. */
  final void settle(int newState) {
    STATE.setRelease(this, newState);
  }

  /** Where the wheel keeps this node, in the wheel's own code. */
  final int place() {
    return (int) STATE.getOpaque(this) >>> STATE_BITS;
  }

  /** Makes the node pending at that place. */
  final void place(int place) {
    STATE.setOpaque(this, place << STATE_BITS | PENDING);
  }

  /** Reads from both cache lines that a node may span; the result means nothing. */
  final int touch() {
    return next == null ? state : -state;
  }
}
