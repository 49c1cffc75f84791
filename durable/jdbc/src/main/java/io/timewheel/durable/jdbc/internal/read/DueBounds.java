// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.read;

import io.timewheel.durable.spi.record.DueTimer;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;

/**
 * Tracks where scans of a shard's due index begin. Fired timers leave dead entries at the front of
 * the index, and an old snapshot keeps them there. A scan from the beginning would read them all.
 * So a scan begins one minute before the first timer found by the last full scan, or before the
 * time of that scan. Every 30 s a scan is a full one. It finds timers below the bound, which a
 * transaction inserted that was open for more than a minute.
 *
 * <p>A sweep begins five seconds before the first timer of the previous sweep, or before the time
 * of that sweep. Every five seconds, a sweep begins where a scan would.
 */
public final class DueBounds {
  private static final long SLACK_MILLIS = TimeUnit.MINUTES.toMillis(1);
  private static final long FULL_SCAN_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long SWEEP_SLACK_MILLIS = TimeUnit.SECONDS.toMillis(5);
  private static final long LONG_SWEEP_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Map<Integer, Bound> bounds = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;

  /**
   * The starts of scans and of sweeps, and the times of the last full scan and the last long sweep.
   */
  private record Bound(long from, long sweepFrom, long fullNanos, long longNanos) {}

  public DueBounds(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Returns the start of a scan of a shard; the earliest time if a full scan is due. */
  long from(int shard) {
    Bound bound = bounds.get(shard);
    return bound == null || isFullScanDue(bound) ? Long.MIN_VALUE : bound.from();
  }

  private boolean isFullScanDue(Bound bound) {
    return nanoTime.getAsLong() - bound.fullNanos() >= FULL_SCAN_NANOS;
  }

  /**
   * Records the first page of a full scan.
   *
   * @param end the end of the scan, or a time before it began if that is earlier
   */
  public void scanned(int shard, long end, List<DueTimer> page) {
    long first = page.isEmpty() ? end : Math.min(end, page.get(0).fireAt());
    long from = before(first, SLACK_MILLIS);
    long nowNanos = nanoTime.getAsLong();
    bounds.put(shard, new Bound(from, from, nowNanos, nowNanos));
  }

  /** Returns the start of a sweep for each shard, except shards for which a full scan is due. */
  public Map<Integer, Long> sweepFrom(Collection<Integer> shards) {
    Map<Integer, Long> from = new TreeMap<>();
    for (int shard : shards) {
      Bound bound = bounds.get(shard);
      if (bound != null && !isFullScanDue(bound)) {
        boolean isLong = nanoTime.getAsLong() - bound.longNanos() >= LONG_SWEEP_NANOS;
        from.put(shard, isLong ? bound.from() : bound.sweepFrom());
      }
    }
    return from;
  }

  /**
   * Records the result of a sweep.
   *
   * @param began the start of the sweep in each shard
   * @param end the end of the sweep, or a time before it began if that is earlier
   */
  public void swept(
      Map<Integer, Long> began, long end, List<DueTimer> found, ToIntFunction<DueTimer> shardOf) {
    Map<Integer, Long> firsts = new HashMap<>();
    found.forEach(due -> firsts.merge(shardOf.applyAsInt(due), due.fireAt(), Math::min));
    began.forEach(
        (shard, beginning) -> {
          long first = Math.min(end, firsts.getOrDefault(shard, end));
          bounds.computeIfPresent(
              shard,
              (same, bound) ->
                  new Bound(
                      bound.from(),
                      before(first, SWEEP_SLACK_MILLIS),
                      bound.fullNanos(),
                      beginning <= bound.from() ? nanoTime.getAsLong() : bound.longNanos()));
        });
  }

  private static long before(long millis, long slackMillis) {
    return millis < Long.MIN_VALUE + slackMillis ? Long.MIN_VALUE : millis - slackMillis;
  }
}
