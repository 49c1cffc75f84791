// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.read;

import io.timewheel.durable.spi.DueTimer;
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
 * Where the due index of a shard begins. What has fired leaves dead entries at its front, which an
 * old snapshot keeps there: a scan that begins with them reads them all. So a scan begins a minute
 * before what the last full scan has found, or before the time of that scan; and now and then it is
 * a full one, which finds what was put below the bound: by a transaction that was open for longer
 * than that minute.
 *
 * <p>A sweep begins five seconds before what the sweep before it has found, or before its time. One
 * in five seconds begins where a scan does.
 */
public final class DueBounds {
  private static final long SLACK_MILLIS = TimeUnit.MINUTES.toMillis(1);
  private static final long FULL_SCAN_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long SWEEP_SLACK_MILLIS = TimeUnit.SECONDS.toMillis(5);
  private static final long LONG_SWEEP_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Map<Integer, Bound> bounds = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;

  /** Where scans begin, and sweeps; when the last full scan was, and the last long sweep. */
  private record Bound(long from, long sweepFrom, long fullNanos, long longNanos) {}

  public DueBounds(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Where a scan of a shard begins; the least time there is for a full one. */
  long from(int shard) {
    Bound bound = bounds.get(shard);
    return bound == null || isFullScanDue(bound) ? Long.MIN_VALUE : bound.from();
  }

  private boolean isFullScanDue(Bound bound) {
    return nanoTime.getAsLong() - bound.fullNanos() >= FULL_SCAN_NANOS;
  }

  /** Takes what the first page of a full scan has found; {@code now} from before that scan. */
  public void scanned(int shard, long now, List<DueTimer> page) {
    long first = page.isEmpty() ? now : Math.min(now, page.get(0).fireAt());
    long from = before(first, SLACK_MILLIS);
    long nowNanos = nanoTime.getAsLong();
    bounds.put(shard, new Bound(from, from, nowNanos, nowNanos));
  }

  /** Where a sweep begins in each shard, but for those of which a full scan is due. */
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
   * Takes what a sweep has found.
   *
   * @param began where it began in each shard
   * @param now from before it
   */
  public void swept(
      Map<Integer, Long> began, long now, List<DueTimer> found, ToIntFunction<DueTimer> shardOf) {
    Map<Integer, Long> firsts = new HashMap<>();
    found.forEach(due -> firsts.merge(shardOf.applyAsInt(due), due.fireAt(), Math::min));
    began.forEach(
        (shard, beginning) -> {
          long first = Math.min(now, firsts.getOrDefault(shard, now));
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
