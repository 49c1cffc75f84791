// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.spi.DueTimer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Where the due index of a shard begins. What has fired leaves dead entries at its front, which an
 * old snapshot keeps there: a scan that begins with them reads them all. So a scan begins a minute
 * before what the last full scan has found, or before the time of that scan; and now and then it is
 * a full one, which finds what was put below the bound: by a transaction that was open for longer
 * than that minute.
 */
final class DueBounds {
  private static final long SLACK_MILLIS = TimeUnit.MINUTES.toMillis(1);
  private static final long FULL_SCAN_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final Map<Integer, Bound> bounds = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;

  private record Bound(long from, long madeNanos) {}

  DueBounds(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Where a scan of a shard begins; the least time there is for a full one. */
  long from(int shard) {
    Bound bound = bounds.get(shard);
    return bound == null || nanoTime.getAsLong() - bound.madeNanos() >= FULL_SCAN_NANOS
        ? Long.MIN_VALUE
        : bound.from();
  }

  /** Takes what the first page of a full scan has found; {@code now} from before that scan. */
  void scanned(int shard, long now, List<DueTimer> page) {
    long first = page.isEmpty() ? now : Math.min(now, page.get(0).fireAt());
    long from = first < Long.MIN_VALUE + SLACK_MILLIS ? Long.MIN_VALUE : first - SLACK_MILLIS;
    bounds.put(shard, new Bound(from, nanoTime.getAsLong()));
  }
}
