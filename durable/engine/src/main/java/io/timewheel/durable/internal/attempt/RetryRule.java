// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.DoubleSupplier;

/** Decides whether a failed attempt is followed by another one, and when. */
public final class RetryRule {
  private final EngineClock clock;
  private final DoubleSupplier random;

  /**
   * @param random supplies numbers from 0 to 1, for the jitter of waits
   */
  public RetryRule(EngineClock clock, DoubleSupplier random) {
    this.clock = clock;
    this.random = random;
  }

  /**
   * Returns the time of the next attempt by the retry policy of the timer; empty if the attempt was
   * the last one of its run.
   *
   * @param minWaitMillis the shortest wait, in milliseconds
   */
  public OptionalLong next(TimerRecord record, Claim claim, long minWaitMillis) {
    RetryPolicy retry = record.definition().retry();
    return isLast(retry, claim)
        ? OptionalLong.empty()
        : after(Math.max(minWaitMillis, waitMillis(retry, claim.attempt())));
  }

  /** Returns the time of the next attempt after a wait that replaces that of the retry policy. */
  public OptionalLong nextAfter(TimerRecord record, Claim claim, Duration wait) {
    return isLast(record.definition().retry(), claim)
        ? OptionalLong.empty()
        : after(EpochMillis.ceil(wait));
  }

  /**
   * Returns the wait, which doubles with each attempt and is shortened at random by up to a half.
   */
  private long waitMillis(RetryPolicy retry, int attempt) {
    long first = retry.backoff().toMillis();
    long max = retry.maxBackoff().toMillis();
    int doublings = attempt - 1;
    boolean fits = doublings < Long.numberOfLeadingZeros(first) - 1;
    long wait = fits ? Math.min(max, first << doublings) : max;
    return wait - (long) (wait * random.getAsDouble() / 2);
  }

  private static boolean isLast(RetryPolicy retry, Claim claim) {
    return claim.attempt() >= retry.maxAttempts();
  }

  private OptionalLong after(long waitMillis) {
    return OptionalLong.of(EpochMillis.saturatedAdd(clock.nowMillis(), waitMillis));
  }
}
