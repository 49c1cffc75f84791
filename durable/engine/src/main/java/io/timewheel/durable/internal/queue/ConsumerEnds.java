// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.internal.attempt.AttemptEnd;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.time.NextRun;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Creates the ends of attempts that consumers have claimed: acked, failed, or lost with their claim
 * lease.
 */
public final class ConsumerEnds {
  private static final System.Logger LOG = GuardedLog.LOG;

  /** The epoch of an end that a consumer requests. */
  static final long NO_EPOCH = 0;

  private ConsumerEnds() {}

  /** Returns the success of an open claim. */
  public static AttemptEnd succeeded(AttemptContext context, TimerRecord record, Claim claim) {
    NextRun next = context.policy().nextRun(record, claim);
    return new AttemptEnd(
        success(context, record.key(), claim.token(), next.atMillis()), next.dropped());
  }

  /** Returns the success of a claim that may have ended before. */
  public static Change.Finish repeatedSuccess(
      AttemptContext context, TimerKey key, ClaimToken token) {
    return success(context, key, token, TimerRecord.NEVER);
  }

  private static Change.Finish success(
      AttemptContext context, TimerKey key, ClaimToken token, long nextMillis) {
    return new Change.Finish(
        key, token, NO_EPOCH, Change.Finish.End.SUCCEEDED, nextMillis, null, context.nowMillis());
  }

  /**
   * Returns the failure of an open claim.
   *
   * @param after the wait for the next attempt; null for that of the retry policy
   */
  public static AttemptEnd failed(
      AttemptContext context,
      TimerRecord record,
      Claim claim,
      String error,
      @Nullable Duration after) {
    OptionalLong retryAt =
        after == null
            ? context.retries().next(record, claim, 0)
            : context.retries().nextAfter(record, claim, after);
    return retryAt.isPresent()
        ? end(context, record, claim, Change.Finish.End.FAILED, NO_EPOCH, retryAt, error)
        : end(context, record, claim, Change.Finish.End.EXHAUSTED, NO_EPOCH, retryAt, error);
  }

  /** Returns the end of a claim with an expired lease, which the owner of its shard records. */
  static AttemptEnd lost(AttemptContext context, TimerRecord record, Claim claim, long epoch) {
    OptionalLong retryAt = context.retries().next(record, claim, 0);
    String error = "the claim lease expired";
    return retryAt.isPresent()
        ? end(context, record, claim, Change.Finish.End.LOST, epoch, retryAt, error)
        : end(context, record, claim, Change.Finish.End.LOST_EXHAUSTED, epoch, retryAt, error);
  }

  private static AttemptEnd end(
      AttemptContext context,
      TimerRecord record,
      Claim claim,
      Change.Finish.End end,
      long epoch,
      OptionalLong retryAt,
      String error) {
    NextRun next =
        retryAt.isPresent()
            ? new NextRun(retryAt.getAsLong(), 0)
            : nextRunOrNone(context, record, claim);
    return new AttemptEnd(
        new Change.Finish(
            record.key(), claim.token(), epoch, end, next.atMillis(), error, context.nowMillis()),
        next.dropped());
  }

  /** Returns the next run. If this release cannot read the recurrence, it is unknown. */
  private static NextRun nextRunOrNone(AttemptContext context, TimerRecord record, Claim claim) {
    try {
      return context.policy().nextRun(record, claim);
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.WARNING, "no next run of " + record.key(), e);
      return new NextRun(TimerRecord.NONE, 0);
    }
  }
}
