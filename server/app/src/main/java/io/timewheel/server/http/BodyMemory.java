// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import java.util.function.BooleanSupplier;

/**
 * The reserved memory of the body of a request. It is released after the answer, and not before the
 * end of the step that uses the body: the deadline of the answer may pass during that step.
 * Thread-safe.
 */
final class BodyMemory {
  private final ByteBudget.Reservation reserved;
  private final BooleanSupplier isAnswered;
  private boolean inUse;

  /** Holds the reserved bytes of a body. */
  BodyMemory(ByteBudget.Reservation reserved, BooleanSupplier isAnswered) {
    this.reserved = reserved;
    this.isAnswered = isAnswered;
  }

  ByteBudget.Reservation reserved() {
    return reserved;
  }

  /** Runs a step that uses the body. */
  void use(Runnable step) {
    synchronized (this) {
      inUse = true;
    }
    try {
      step.run();
    } finally {
      synchronized (this) {
        inUse = false;
      }
      releaseIfUnused();
    }
  }

  /** Called when the request has been answered, or a step has ended. */
  synchronized void releaseIfUnused() {
    if (!inUse && isAnswered.getAsBoolean()) {
      reserved.release();
    }
  }

  /** Releases the memory now, for a request that waits without its body. */
  synchronized void discard() {
    reserved.release();
  }
}
