// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.Attempt;
import org.jspecify.annotations.Nullable;

/**
 * The claim of one attempt.
 *
 * @param token proves that a caller holds the claim
 * @param version the version of the timer that fires
 * @param scheduledAt the scheduled time of the run
 * @param attempt the number of the attempt within its run, from 1
 * @param epoch the epoch of the owner that claimed it; 0 for a consumer's claim lease
 * @param beganAt the time of the claim
 * @param until the expiry of the claim lease; {@link TimerRecord#NEVER} for an attempt of a handler
 * @param end how it ended; null while it is open
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
   * @param token proves that a caller holds the claim
   * @param version the version of the timer that fires
   * @param scheduledAt the scheduled time of the run
   * @param attempt the number of the attempt within its run, from 1
   * @param epoch the epoch of the owner that claimed it; 0 for a consumer's claim lease
   * @param beganAt the time of the claim
   * @param until the expiry of the claim lease; {@link TimerRecord#NEVER} for an attempt of a
   *     handler
   * @param end how it ended; null while it is open
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
