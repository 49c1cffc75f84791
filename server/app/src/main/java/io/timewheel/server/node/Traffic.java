// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import io.timewheel.api.StatsAnswer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * The work of this node in the last hour, by minute. Any thread may add to the counters, which only
 * grow. Once a second, {@link #sample} adds the increase to the current minute. This class reads no
 * clock.
 */
public final class Traffic {
  private static final int MINUTES = 60;
  private static final long MINUTE_MILLIS = Duration.ofMinutes(1).toMillis();
  private static final long RATE_MILLIS = Duration.ofSeconds(10).toMillis();

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

  /** The lags since the last sample: of attempts that began, and of timers that became ready. */
  final LagCounts lags = new LagCounts();

  /** The samples of the last ten seconds, oldest first, and one before them. */
  private final ArrayDeque<Sample> samples = new ArrayDeque<>();

  private final ArrayDeque<Minute> minutes = new ArrayDeque<>();

  private record Sample(long atMillis, long scheduled, long fired, long failed) {}

  /** A minute of the clock. The last one is not complete. */
  static final class Minute {
    private final long atMillis;
    private long scheduled;
    private long fired;
    private long failed;
    private final LagCounts lags = new LagCounts();

    private Minute(long atMillis) {
      this.atMillis = atMillis;
    }

    private void add(Minute other) {
      scheduled += other.scheduled;
      fired += other.fired;
      failed += other.failed;
      lags.addAll(other.lags);
    }

    private boolean isEmpty() {
      return scheduled == 0 && fired == 0 && failed == 0 && lags.count() == 0;
    }

    StatsAnswer.Minute answer() {
      StatsAnswer.Lag lag = lags.count() > 0 ? lags.answer() : null;
      return new StatsAnswer.Minute(
          Instant.ofEpochMilli(atMillis),
          scheduled,
          fired,
          failed,
          lag == null ? null : lag.p50(),
          lag == null ? null : lag.p99(),
          lag == null ? null : lag.max());
    }
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
    lags.moveTo(minute.lags);
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

  /** Adds up to 60 minutes to those of the same time. */
  synchronized void addTo(Map<Long, Minute> sums) {
    for (Minute minute : minutes) {
      sums.computeIfAbsent(minute.atMillis, Minute::new).add(minute);
    }
  }

  /** Adds the lags of all minutes. */
  synchronized void addTo(LagCounts sum) {
    minutes.forEach(minute -> sum.addAll(minute.lags));
  }

  /** {@return the rates of the last ten seconds, in tenths} */
  synchronized StatsAnswer.Rates rates() {
    if (samples.size() < 2) {
      return new StatsAnswer.Rates(0, 0, 0);
    }
    Sample first = samples.getFirst();
    Sample last = samples.getLast();
    long millis = last.atMillis - first.atMillis;
    return new StatsAnswer.Rates(
        rate(last.scheduled - first.scheduled, millis),
        rate(last.fired - first.fired, millis),
        rate(last.failed - first.failed, millis));
  }

  private static double rate(long count, long millis) {
    return millis == 0 ? 0 : Math.round(count * 10_000.0 / millis) / 10.0;
  }
}
