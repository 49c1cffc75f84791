// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A request of the consumer that holds a claim lease. */
public sealed interface LeaseRequest {
  /**
   * Returns the token of the claim lease.
   *
   * @return the token; the server refuses a request without it
   */
  @Nullable String leaseToken();

  /**
   * The attempt has succeeded.
   *
   * @param leaseToken the token of the claim lease
   */
  record Ack(@Nullable String leaseToken) implements LeaseRequest {}

  /**
   * The attempt has failed.
   *
   * @param leaseToken the token of the claim lease
   * @param error the cause
   * @param after the delay before the next attempt, instead of that of the retry policy
   */
  record Nack(@Nullable String leaseToken, @Nullable String error, @Nullable Duration after)
      implements LeaseRequest {}

  /**
   * The attempt needs more time.
   *
   * @param leaseToken the token of the claim lease
   * @param leaseDuration the duration of the lease from now, from 1 s to 12 h
   */
  record Extend(@Nullable String leaseToken, @Nullable Duration leaseDuration)
      implements LeaseRequest {}
}
