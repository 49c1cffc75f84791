// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * What a wheel keeps: a deadline, the links of the slot that it is in, and a state of which the
 * wheel knows one, {@link #PENDING}. A node is pending exactly as long as it is in a wheel.
 *
 * <p>The place in the wheel shares a field with the state, so that a timeout takes 40 bytes. The
 * caller holds the lock of the stripe, unless the method says otherwise. Writes of the state are
 * releases and not volatile: the lock orders writers, and a reader without the lock needs only to
 * see what happened before. The place is for the holder of the lock alone, so it is written
 * opaquely.
 */
abstract class Node {
  static final int PENDING = 0;
  static final int STATE_BITS = 3;
  static final int STATE_MASK = (1 << STATE_BITS) - 1;

  /** How many bits of the field a wheel has for a place. */
  static final int PLACE_BITS = Integer.SIZE - STATE_BITS;

  /** Read and written through it by subclasses, which have more states. */
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

  /** The neighbours in a list, null at its ends and in no list; {@link Slot} alone sets them. */
  @Nullable Node prev;

  @Nullable Node next;

  @SuppressWarnings("unused") // read and written through DEADLINE
  private long deadlineNanos;

  /** The state in the lower bits; above them, as long as it is PENDING, the place in the wheel. */
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

  /** Reads from both of the cache lines that a node may lie on; the answer means nothing. */
  final int touch() {
    return next == null ? state : -state;
  }
}
