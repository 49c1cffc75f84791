// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.health;

import io.timewheel.TimeSource;
import io.timewheel.durable.spi.StoreException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Tracks whether the store can be read, or written, and logs each change once. */
public final class StoreHealth {
  private static final System.Logger LOG = GuardedLog.LOG;

  /** After this number of consecutive transient failures, the store counts as failed. */
  private static final int MAX_TRANSIENTS = 5;

  /**
   * The age from which a failure no longer counts. The engine repeats its own changes every few
   * seconds, so an older failure was that of a call, and no other call has followed. A server that
   * reports "not ready" gets no calls, so this also limits the time until it is ready again.
   */
  private static final long NEWS_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final TimeSource time;
  private final AtomicInteger transients = new AtomicInteger();
  private volatile boolean failing;
  private long failedAtNanos;

  StoreHealth(TimeSource time) {
    this.time = time;
  }

  /** Notes a failed call. */
  public void failed(String what, Throwable failure) {
    boolean passes =
        failure instanceof StoreException e && e.kind() == StoreException.Kind.TRANSIENT;
    if (passes && transients.incrementAndGet() < MAX_TRANSIENTS) {
      return;
    }
    boolean first;
    synchronized (this) {
      first = !failing;
      failing = true;
      failedAtNanos = time.nanoTime();
    }
    if (first) {
      LOG.log(
          System.Logger.Level.WARNING,
          "the store fails at {0}, and is tried again until it answers: {1}",
          what,
          failure);
    }
  }

  /** Notes a successful call. */
  public void answered() {
    if (transients.get() != 0) {
      transients.set(0);
    }
    if (!failing) {
      return;
    }
    boolean last;
    synchronized (this) {
      last = failing;
      failing = false;
    }
    if (last) {
      LOG.log(System.Logger.Level.INFO, "the store answers again");
    }
  }

  synchronized boolean isAvailable() {
    return !failing || time.nanoTime() - failedAtNanos > NEWS_NANOS;
  }
}
