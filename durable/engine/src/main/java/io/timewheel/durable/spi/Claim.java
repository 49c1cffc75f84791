// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.Attempt;
import org.jspecify.annotations.Nullable;

/**
 * An attempt that was claimed.
 *
 * @param token proves that it is one's own
 * @param version the version of the timer that is fired
 * @param scheduledAt the time for which the run was scheduled
 * @param attempt which attempt of the run this is; the first is 1
 * @param epoch the epoch of the owner that claimed it; 0 for a lease of a queue
 * @param beganAt when it was claimed
 * @param until when the lease ends; {@link TimerRecord#NEVER} if it is a handler's attempt
 * @param end how it ended; null while it has not
 */
public record Claim(
    ClaimToken token,
    long version,
    long scheduledAt,
    int attempt,
    long epoch,
    long beganAt,
    long until,
    Attempt.@Nullable End end) {

  /**
   * Checks that there is a token.
   *
   * @param token proves that it is one's own
   * @param version the version of the timer that is fired
   * @param scheduledAt the time for which the run was scheduled
   * @param attempt which attempt of the run this is; the first is 1
   * @param epoch the epoch of the owner that claimed it; 0 for a lease of a queue
   * @param beganAt when it was claimed
   * @param until when the lease ends; {@link TimerRecord#NEVER} if it is a handler's attempt
   * @param end how it ended; null while it has not
   */
  public Claim {
    requireNonNull(token, "token");
  }

  Claim ended(Attempt.End how) {
    return new Claim(token, version, scheduledAt, attempt, epoch, beganAt, until, how);
  }

  Claim extended(long newUntil) {
    return new Claim(token, version, scheduledAt, attempt, epoch, beganAt, newUntil, end);
  }
}
