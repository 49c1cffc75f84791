// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.TimerRecord;

/**
 * A claim that has not ended.
 *
 * @param record the record that contains the claim
 * @param epoch the epoch under which the claim ends; 0 if a consumer ends it
 * @param ofHandler true if a handler of this engine runs the attempt
 */
public record OpenClaim(TimerRecord record, Claim claim, long epoch, boolean ofHandler) {
  /** The epoch of an end that a consumer requests. */
  public static final long NO_EPOCH = 0;

  static OpenClaim ofHandler(TimerRecord record) {
    Claim claim = requireNonNull(record.claim(), "claim");
    return new OpenClaim(record, claim, claim.epoch(), true);
  }

  public static OpenClaim ofConsumer(TimerRecord record, Claim claim) {
    return new OpenClaim(record, claim, NO_EPOCH, false);
  }

  /** Returns the claim of a consumer whose lease has expired. */
  public static OpenClaim expired(TimerRecord record, Claim claim, long epoch) {
    return new OpenClaim(record, claim, epoch, false);
  }

  /** Returns whether it was leased, from a shard of another node if a handler runs it. */
  boolean isLeased() {
    return claim.until() != TimerRecord.NEVER;
  }

  /**
   * Returns how late it begins, in milliseconds. The record of a leased timer no longer contains
   * its fire time. A first attempt counts from its scheduled time, and a retry from its claim.
   */
  long lagMillis(long nowMillis) {
    long dueMillis = record.fireAt();
    if (isLeased()) {
      dueMillis =
          claim.attempt() == 1
              ? Math.max(claim.scheduledAt(), record.createdAt())
              : claim.beganAt();
    }
    return Math.max(0, nowMillis - dueMillis);
  }
}
