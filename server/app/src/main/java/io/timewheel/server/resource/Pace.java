// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Spreads work evenly over time. Unused time is not saved up. Thread-safe. */
final class Pace {
  private final int perSecond;
  private final LongSupplier nanoTime;
  private long freeAtNanos;

  Pace(int perSecond, LongSupplier nanoTime) {
    this.perSecond = perSecond;
    this.nanoTime = nanoTime;
    freeAtNanos = nanoTime.getAsLong();
  }

  /** {@return the time in nanoseconds to wait before this number of pieces} */
  synchronized long reserve(int count) {
    long now = nanoTime.getAsLong();
    long wait = Math.max(0, freeAtNanos - now);
    freeAtNanos = now + wait + count * TimeUnit.SECONDS.toNanos(1) / perSecond;
    return wait;
  }
}
