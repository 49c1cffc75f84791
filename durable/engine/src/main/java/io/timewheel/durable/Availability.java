// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.StoreException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Whether the store can be used, with one log line for each change of it. */
final class Availability {
  private static final System.Logger LOG = System.getLogger(DurableTimer.class.getName());

  private final AtomicBoolean failing = new AtomicBoolean();

  /** A call has failed. What may go well in a moment does not count. */
  void failed(String what, Throwable failure) {
    boolean transients =
        failure instanceof StoreException e && e.kind() == StoreException.Kind.TRANSIENT;
    if (!transients && !failing.getAndSet(true)) {
      LOG.log(
          System.Logger.Level.WARNING,
          "the store fails at {0}, and is tried again until it answers: {1}",
          what,
          failure);
    }
  }

  /** A call has gone well. */
  void answered() {
    if (failing.get() && failing.getAndSet(false)) {
      LOG.log(System.Logger.Level.INFO, "the store answers again");
    }
  }

  boolean isAvailable() {
    return !failing.get();
  }
}
