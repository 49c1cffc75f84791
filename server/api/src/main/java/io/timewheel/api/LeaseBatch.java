// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Requests of a consumer for many claim leases, each independently. */
public sealed interface LeaseBatch {
  /** A request for one of the claim leases. */
  sealed interface Item {
    /**
     * Returns the ID of the firing.
     *
     * @return the ID; the server refuses an item without it
     */
    @Nullable String fireId();

    /**
     * Returns the item without the ID of its firing.
     *
     * @return the request
     */
    LeaseRequest request();
  }

  /**
   * Attempts that have succeeded.
   *
   * @param firings 1 to 1,000 firings
   */
  record Acks(List<Ack> firings) implements LeaseBatch {}

  /**
   * Attempts that have failed.
   *
   * @param firings 1 to 1,000 firings
   */
  record Nacks(List<Nack> firings) implements LeaseBatch {}

  /**
   * Attempts that need more time.
   *
   * @param firings 1 to 1,000 firings
   */
  record Extends(List<Extend> firings) implements LeaseBatch {}

  /**
   * The attempt has succeeded.
   *
   * @param fireId the ID of the firing
   * @param leaseToken the token of the claim lease
   */
  record Ack(@Nullable String fireId, @Nullable String leaseToken) implements Item {
    @Override
    public LeaseRequest.Ack request() {
      return new LeaseRequest.Ack(leaseToken);
    }
  }

  /**
   * The attempt has failed.
   *
   * @param fireId the ID of the firing
   * @param leaseToken the token of the claim lease
   * @param error the cause
   * @param after the delay before the next attempt, instead of that of the retry policy
   */
  record Nack(
      @Nullable String fireId,
      @Nullable String leaseToken,
      @Nullable String error,
      @Nullable Duration after)
      implements Item {
    @Override
    public LeaseRequest.Nack request() {
      return new LeaseRequest.Nack(leaseToken, error, after);
    }
  }

  /**
   * The attempt needs more time.
   *
   * @param fireId the ID of the firing
   * @param leaseToken the token of the claim lease
   * @param leaseDuration the duration of the lease from now, from 1 s to 12 h
   */
  record Extend(
      @Nullable String fireId, @Nullable String leaseToken, @Nullable Duration leaseDuration)
      implements Item {
    @Override
    public LeaseRequest.Extend request() {
      return new LeaseRequest.Extend(leaseToken, leaseDuration);
    }
  }

  /**
   * The results of a batch, in the order of its firings.
   *
   * @param results one for each firing
   */
  record Answer(List<Result> results) {
    /**
     * The result of one firing.
     *
     * @param fireId the ID of the firing; absent if the server could not read it
     * @param status the HTTP status that a request for this firing alone would have
     * @param error the refusal; absent if the status is 200
     */
    public record Result(@Nullable String fireId, int status, @Nullable ProblemDetails error) {}
  }
}
