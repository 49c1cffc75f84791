// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.TimerRecord;

/** Creates ends that consumers request. */
public final class ConsumerEnds {
  /** The epoch of an end that a consumer requests. */
  static final long NO_EPOCH = 0;

  private ConsumerEnds() {}

  /** Returns the success of a claim that may have ended before. */
  public static Change.Finish repeatedSuccess(
      AttemptContext context, TimerKey key, ClaimToken token) {
    return new Change.Finish(
        key,
        token,
        NO_EPOCH,
        Change.Finish.End.SUCCEEDED,
        TimerRecord.NEVER,
        null,
        context.nowMillis());
  }
}
