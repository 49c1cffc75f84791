// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.internal.time.MissedRunPolicy;
import io.timewheel.durable.internal.time.NextRun;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Change.Finish.End;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides how the attempts of handlers and consumers end: whether another attempt or the next run
 * follows, and when.
 */
public final class EndRule {
  private static final System.Logger LOG = GuardedLog.LOG;

  /** The next run if it cannot be read, so that the timer fails. */
  private static final NextRun UNKNOWN = new NextRun(TimerRecord.NONE, 0);

  private final EngineClock clock;
  private final MissedRunPolicy policy;
  private final DoubleSupplier random;

  /**
   * @param random supplies numbers from 0 to 1, for the jitter of waits
   */
  public EndRule(EngineClock clock, MissedRunPolicy policy, DoubleSupplier random) {
    this.clock = clock;
    this.policy = policy;
    this.random = random;
  }

  /** Returns whether all attempts of the run were lost with their processes. */
  boolean isLost(OpenClaim open) {
    return attemptsLeft(open) < 0;
  }

  private static int attemptsLeft(OpenClaim open) {
    return open.record().definition().retry().maxAttempts() - open.claim().attempt();
  }

  /** Returns a success. Throws an exception if the recurrence of the timer cannot be read. */
  public AttemptEnd succeeded(OpenClaim open) {
    return end(open, End.SUCCEEDED, policy.nextRun(open.record(), open.claim()), null);
  }

  /**
   * Returns a failure, with a retry by the policy of the timer if attempts are left.
   *
   * @param minWaitMillis the shortest wait for the retry, in milliseconds
   */
  AttemptEnd failed(OpenClaim open, String error, long minWaitMillis) {
    long waitMillis = Math.max(minWaitMillis, backoffMillis(open));
    return retried(open, End.FAILED, End.EXHAUSTED, error, waitMillis);
  }

  /**
   * Returns a failure.
   *
   * @param wait the wait for the retry; null for that of the policy of the timer
   */
  public AttemptEnd failed(OpenClaim open, String error, @Nullable Duration wait) {
    long waitMillis = wait == null ? backoffMillis(open) : EpochMillis.ceil(wait);
    return retried(open, End.FAILED, End.EXHAUSTED, error, waitMillis);
  }

  /** Returns the end of a claim whose lease has expired. */
  public AttemptEnd lost(OpenClaim open, String error) {
    return retried(open, End.LOST, End.LOST_EXHAUSTED, error, backoffMillis(open));
  }

  /** Returns a failure without a retry. */
  AttemptEnd exhausted(OpenClaim open, String error) {
    return end(open, End.EXHAUSTED, nextRun(open), error);
  }

  /** Returns the end of an attempt that does not count. Its run begins again at a time. */
  AttemptEnd givenBack(OpenClaim open, long againMillis) {
    return end(open, End.GIVEN_BACK, new NextRun(againMillis, 0), null);
  }

  private AttemptEnd retried(OpenClaim open, End end, End lastEnd, String error, long waitMillis) {
    if (attemptsLeft(open) <= 0) {
      return end(open, lastEnd, nextRun(open), error);
    }
    long retryMillis = EpochMillis.saturatedAdd(clock.nowMillis(), waitMillis);
    return end(open, end, new NextRun(retryMillis, 0), error);
  }

  /** Returns the next run. If this release cannot read the recurrence, it is unknown. */
  private NextRun nextRun(OpenClaim open) {
    try {
      return policy.nextRun(open.record(), open.claim());
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.WARNING, "no next run of " + open.record().key(), e);
      return UNKNOWN;
    }
  }

  /**
   * Returns the wait, which doubles with each attempt and is shortened at random by up to a half.
   */
  private long backoffMillis(OpenClaim open) {
    RetryPolicy retry = open.record().definition().retry();
    long first = retry.backoff().toMillis();
    long max = retry.maxBackoff().toMillis();
    int doublings = open.claim().attempt() - 1;
    boolean fits = doublings < Long.numberOfLeadingZeros(first) - 1;
    long wait = fits ? Math.min(max, first << doublings) : max;
    return wait - (long) (wait * random.getAsDouble() / 2);
  }

  private AttemptEnd end(OpenClaim open, End end, NextRun next, @Nullable String error) {
    return new AttemptEnd(
        new Change.Finish(
            open.record().key(),
            open.claim().token(),
            open.epoch(),
            end,
            next.atMillis(),
            TimerRecord.NEVER,
            error,
            null,
            open.ofHandler() ? open.record() : null,
            null,
            clock.nowMillis()),
        next.dropped());
  }
}
