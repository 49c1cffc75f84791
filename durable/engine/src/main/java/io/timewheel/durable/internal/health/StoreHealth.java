// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.health;

import io.timewheel.TimeSource;
import io.timewheel.durable.spi.StoreException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Whether the store can be read, or written, with one log line for each change of it. */
public final class StoreHealth {
  private static final System.Logger LOG = GuardedLog.LOG;

  /** So many failures in a row that would pass in a moment have not passed. */
  private static final int MAX_TRANSIENTS = 5;

  /**
   * An older failure does not count: the engine repeats its own changes every few seconds, so only
   * a caller was refused, and no caller has asked since. A server that answers "not ready" gets no
   * more calls, so this also bounds the time until it is ready again.
   */
  private static final long NEWS_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final TimeSource time;
  private final AtomicInteger transients = new AtomicInteger();
  private volatile boolean failing;
  private long failedAtNanos;

  StoreHealth(TimeSource time) {
    this.time = time;
  }

  /** A call has failed. */
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

  /** A call has gone well. */
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
