// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import io.timewheel.durable.LagHistogram;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/**
 * The work of this node in the last hour, by minute. Any thread may add to the counters, which only
 * grow. Once a second, {@link #sample} adds the increase to the current minute. This class reads no
 * clock.
 */
public final class Traffic {
  private static final int MINUTES = 60;
  private static final long MINUTE_MILLIS = Duration.ofMinutes(1).toMillis();
  private static final long RATE_MILLIS = Duration.ofSeconds(10).toMillis();
  private static final int BUCKETS = LagHistogram.bounds().size() + 1;

  /** Timers that were created or replaced. */
  public final LongAdder scheduled = new LongAdder();

  /** Attempts that have started, of handlers and of queues. */
  public final LongAdder fired = new LongAdder();

  /** Attempts that succeeded. */
  public final LongAdder succeeded = new LongAdder();

  /** Attempts that failed, including those with an expired claim lease. */
  public final LongAdder failed = new LongAdder();

  /** Runs that failed. */
  public final LongAdder exhausted = new LongAdder();

  private final AtomicLongArray lags = new AtomicLongArray(BUCKETS);
  private final AtomicLong maxLagMillis = new AtomicLong();

  /** The samples of the last ten seconds, oldest first, and one before them. */
  private final ArrayDeque<Sample> samples = new ArrayDeque<>();

  private final ArrayDeque<Minute> minutes = new ArrayDeque<>();
  private final long[] sampledLags = new long[BUCKETS];

  private record Sample(long atMillis, long scheduled, long fired, long failed) {}

  /** Recent rates, per second. */
  public record Rates(double scheduled, double fired, double failed) {
    Rates plus(Rates other) {
      return new Rates(
          tenth(scheduled + other.scheduled),
          tenth(fired + other.fired),
          tenth(failed + other.failed));
    }

    private static double tenth(double rate) {
      return Math.round(rate * 10) / 10.0;
    }
  }

  /** The lag of timers, as counts in the buckets of {@link LagHistogram}. */
  public static final class Lag {
    private final long[] counts = new long[BUCKETS];
    private long maxMillis;

    void add(Lag other) {
      for (int i = 0; i < BUCKETS; i++) {
        counts[i] += other.counts[i];
      }
      maxMillis = Math.max(maxMillis, other.maxMillis);
    }

    public long count() {
      long sum = 0;
      for (long count : counts) {
        sum += count;
      }
      return sum;
    }

    public Duration max() {
      return Duration.ofMillis(maxMillis);
    }

    /**
     * {@return the upper bound of the bucket of a percentile; the longest lag if that is shorter}
     */
    public Duration percentile(int percent) {
      double wanted = count() * percent / 100.0;
      long within = 0;
      for (int i = 0; i < BUCKETS - 1; i++) {
        within += counts[i];
        if (within >= wanted) {
          Duration bound = LagHistogram.bounds().get(i);
          return bound.compareTo(max()) < 0 ? bound : max();
        }
      }
      return max();
    }
  }

  /** A minute of the clock. The last one is not complete. */
  public static final class Minute {
    private final long atMillis;
    private long scheduled;
    private long fired;
    private long failed;
    private final Lag lag = new Lag();

    private Minute(long atMillis) {
      this.atMillis = atMillis;
    }

    private Minute copy() {
      Minute copy = new Minute(atMillis);
      copy.add(this);
      return copy;
    }

    private void add(Minute other) {
      scheduled += other.scheduled;
      fired += other.fired;
      failed += other.failed;
      lag.add(other.lag);
    }

    private boolean isEmpty() {
      return scheduled == 0 && fired == 0 && failed == 0 && lag.count() == 0;
    }

    /** {@return the sums of the minutes with the same time, oldest first} */
    static List<Minute> sums(Stream<Minute> minutes) {
      Map<Long, Minute> sums = new TreeMap<>();
      minutes.forEach(minute -> sums.computeIfAbsent(minute.atMillis, Minute::new).add(minute));
      return List.copyOf(sums.values());
    }

    public Instant at() {
      return Instant.ofEpochMilli(atMillis);
    }

    public long scheduled() {
      return scheduled;
    }

    public long fired() {
      return fired;
    }

    public long failed() {
      return failed;
    }

    public Lag lag() {
      return lag;
    }
  }

  /** Counts the lag of a timer, when its attempt began or when it was ready in its queue. */
  void countLag(long lagMillis) {
    int found = Collections.binarySearch(LagHistogram.bounds(), Duration.ofMillis(lagMillis));
    lags.incrementAndGet(found >= 0 ? found : -found - 1);
    maxLagMillis.accumulateAndGet(lagMillis, Math::max);
  }

  /** Adds the counts since the last call to the current minute. */
  public synchronized void sample(Instant now) {
    long nowMillis = now.toEpochMilli();
    Sample before = samples.isEmpty() ? new Sample(nowMillis, 0, 0, 0) : samples.getLast();
    Sample sample = new Sample(nowMillis, scheduled.sum(), fired.sum(), failed.sum());
    if (nowMillis < before.atMillis) { // the clock was set back
      samples.clear();
    }
    samples.add(sample);
    while (samples.size() > 2 && secondAtMillis() <= nowMillis - RATE_MILLIS) {
      samples.removeFirst();
    }
    Minute minute = running(nowMillis);
    minute.scheduled += sample.scheduled - before.scheduled;
    minute.fired += sample.fired - before.fired;
    minute.failed += sample.failed - before.failed;
    for (int i = 0; i < BUCKETS; i++) {
      long count = lags.get(i);
      minute.lag.counts[i] += count - sampledLags[i];
      sampledLags[i] = count;
    }
    minute.lag.maxMillis = Math.max(minute.lag.maxMillis, maxLagMillis.getAndSet(0));
  }

  private long secondAtMillis() {
    var each = samples.iterator();
    each.next();
    return each.next().atMillis;
  }

  /**
   * Returns the minute of a time, after empty minutes for those without a sample. A clock may jump.
   */
  private Minute running(long nowMillis) {
    long startMillis = nowMillis - Math.floorMod(nowMillis, MINUTE_MILLIS);
    if (!minutes.isEmpty()) {
      long lastMillis = minutes.getLast().atMillis;
      if (startMillis < lastMillis - MINUTE_MILLIS
          || startMillis > lastMillis + MINUTES * MINUTE_MILLIS) {
        minutes.clear();
      } else if (startMillis <= lastMillis) {
        return minutes.getLast();
      } else {
        for (long at = lastMillis + MINUTE_MILLIS; at < startMillis; at += MINUTE_MILLIS) {
          minutes.add(new Minute(at));
        }
      }
    }
    Minute minute = new Minute(startMillis);
    minutes.add(minute);
    while (minutes.size() > MINUTES) {
      minutes.removeFirst();
    }
    return minute;
  }

  /** {@return whether an hour has passed without any count} */
  synchronized boolean isIdle() {
    return minutes.size() == MINUTES && minutes.stream().allMatch(Minute::isEmpty);
  }

  /** {@return up to 60 minutes, oldest first} */
  public synchronized List<Minute> minutes() {
    List<Minute> copies = new ArrayList<>(minutes.size());
    minutes.forEach(minute -> copies.add(minute.copy()));
    return copies;
  }

  /** {@return the lag of all minutes together} */
  public synchronized Lag lag() {
    Lag sum = new Lag();
    minutes.forEach(minute -> sum.add(minute.lag));
    return sum;
  }

  /** {@return the rates of the last ten seconds, in tenths} */
  public synchronized Rates rates() {
    if (samples.size() < 2) {
      return new Rates(0, 0, 0);
    }
    Sample first = samples.getFirst();
    Sample last = samples.getLast();
    long millis = last.atMillis - first.atMillis;
    return new Rates(
        rate(last.scheduled - first.scheduled, millis),
        rate(last.fired - first.fired, millis),
        rate(last.failed - first.failed, millis));
  }

  private static double rate(long count, long millis) {
    return millis == 0 ? 0 : Math.round(count * 10_000.0 / millis) / 10.0;
  }
}
