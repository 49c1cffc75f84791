// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.FireId;
import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.model.LeaseResult;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.spi.record.ClaimToken;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The end or the extension of a claim lease that a consumer requests. Immutable. */
public final class LeaseChange {
  static final Duration MIN_LEASE = Duration.ofSeconds(1);
  static final Duration MAX_LEASE = Duration.ofHours(12);

  /** Ends and extensions. */
  enum Kind {
    ACK,
    NACK,
    EXTEND
  }

  final Kind kind;
  final FireId fireId;
  final ClaimToken token;

  /** The reason for the failure; empty unless it is a {@link Kind#NACK}. */
  final String error;

  /** The wait for the next attempt, or the duration of the lease from now. */
  final @Nullable Duration time;

  final @Nullable RequestId request;

  private LeaseChange(
      Kind kind,
      FireId fireId,
      ClaimToken token,
      String error,
      @Nullable Duration time,
      @Nullable RequestId request) {
    this.kind = kind;
    this.fireId = fireId;
    this.token = token;
    this.error = error;
    this.time = time;
    this.request = request;
  }

  /**
   * Creates the end of a claim lease: the attempt succeeded.
   *
   * @param fireId the claimed run
   * @param leaseToken the token of the claim lease
   * @return the change
   */
  public static LeaseChange ack(FireId fireId, String leaseToken) {
    requireNonNull(fireId, "fireId");
    return new LeaseChange(Kind.ACK, fireId, QueueFiring.parse(leaseToken), "", null, null);
  }

  /**
   * Creates the end of a claim lease: the attempt failed.
   *
   * @param fireId the claimed run
   * @param leaseToken the token of the claim lease
   * @param error the reason
   * @param after the wait for the next attempt, zero or more; null for that of the retry policy
   * @return the change
   */
  public static LeaseChange nack(
      FireId fireId, String leaseToken, String error, @Nullable Duration after) {
    requireNonNull(fireId, "fireId");
    requireNonNull(error, "error");
    if (after != null && after.isNegative()) {
      throw notInReach(after);
    }
    ClaimToken token = QueueFiring.parse(leaseToken);
    return new LeaseChange(Kind.NACK, fireId, token, error, after, null);
  }

  /**
   * Creates the extension of a claim lease.
   *
   * @param fireId the claimed run
   * @param leaseToken the token of the claim lease
   * @param by the new duration from now on, from a second to twelve hours; the lease is never
   *     shortened
   * @return the change
   */
  public static LeaseChange extend(FireId fireId, String leaseToken, Duration by) {
    requireNonNull(fireId, "fireId");
    Limits.between("by", by, MIN_LEASE, MAX_LEASE);
    return new LeaseChange(Kind.EXTEND, fireId, QueueFiring.parse(leaseToken), "", by, null);
  }

  /**
   * Adds a request ID: for {@link RequestId#KEPT_HOURS} hours, a repetition gets the first answer.
   * Without an ID, a repeated end returns {@link LeaseResult#LOST}, except that a repeated ack
   * returns {@link LeaseResult#DONE} until the timer is claimed again.
   *
   * @param id the request ID, by which a repetition is recognised; or null
   * @return the change with the ID
   */
  public LeaseChange requestId(@Nullable RequestId id) {
    return new LeaseChange(kind, fireId, token, error, time, id);
  }

  static InvalidArgumentException notInReach(Duration after) {
    return new InvalidArgumentException(
        "after: " + after + " (expected: zero or more, and not forever)");
  }
}
