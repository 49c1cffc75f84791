// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import io.timewheel.durable.LagHistogram;
import io.timewheel.durable.spi.TimerDefinition;
import io.timewheel.server.webhook.DeliveryName;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * The lag of timers of one kind of target since the start of the node, as counts in the buckets of
 * {@link LagHistogram}. Thread-safe.
 */
public final class TargetLag {
  private final AtomicLongArray counts = new AtomicLongArray(LagHistogram.bounds().size() + 1);
  private final LongAdder sumMillis = new LongAdder();

  TargetLag() {}

  /** The kind of target of a timer. */
  public enum Target {
    QUEUE,
    WEBHOOK,
    HANDLER;

    static Target of(TimerDefinition definition) {
      return definition.queue()
          ? QUEUE
          : definition.handler().startsWith(DeliveryName.PREFIX) ? WEBHOOK : HANDLER;
    }
  }

  void add(long lagMillis) {
    int found = Collections.binarySearch(LagHistogram.bounds(), Duration.ofMillis(lagMillis));
    counts.incrementAndGet(found >= 0 ? found : -found - 1);
    sumMillis.add(lagMillis);
  }

  /** {@return the number of timers in each bucket} */
  public long[] counts() {
    long[] copy = new long[counts.length()];
    for (int i = 0; i < copy.length; i++) {
      copy[i] = counts.get(i);
    }
    return copy;
  }

  /** {@return the sum of all lags, in seconds} */
  public double sumSeconds() {
    return sumMillis.sum() / 1_000.0;
  }
}
