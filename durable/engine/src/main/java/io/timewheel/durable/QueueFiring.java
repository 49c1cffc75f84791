// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.queue.ClaimedTimer;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.spi.record.ClaimToken;
import java.time.Instant;
import java.util.HexFormat;

/** A firing that a consumer has claimed from a queue, with its claim lease. */
public final class QueueFiring {
  private static final int LEASE_LENGTH = 32;

  private final ClaimedTimer claimed;

  QueueFiring(ClaimedTimer claimed) {
    this.claimed = claimed;
  }

  ClaimedTimer claimed() {
    return claimed;
  }

  /** {@return the firing} */
  public Firing firing() {
    return claimed.firing();
  }

  /** {@return the token of the claim lease, an opaque text} */
  public String leaseToken() {
    HexFormat hex = HexFormat.of();
    ClaimToken token = token();
    return hex.toHexDigits(token.high()) + hex.toHexDigits(token.low());
  }

  /** {@return the expiry of the claim lease, unless it is extended} */
  public Instant leasedUntil() {
    return Instant.ofEpochMilli(claimed.claim().until());
  }

  ClaimToken token() {
    return claimed.claim().token();
  }

  static ClaimToken parse(String lease) {
    requireNonNull(lease, "leaseToken");
    try {
      if (lease.length() == LEASE_LENGTH) {
        return new ClaimToken(
            HexFormat.fromHexDigitsToLong(lease, 0, 16),
            HexFormat.fromHexDigitsToLong(lease, 16, 32));
      }
    } catch (IllegalArgumentException e) {
      throw new InvalidArgumentException("leaseToken: is not a lease token", e);
    }
    throw new InvalidArgumentException("leaseToken: is not a lease token");
  }

  @Override
  public String toString() {
    return "QueueFiring(" + firing() + ", until " + leasedUntil() + ")";
  }
}
