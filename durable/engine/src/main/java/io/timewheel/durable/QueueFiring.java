// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Instant;
import java.util.HexFormat;

/** A firing that was claimed from a queue, with the lease that proves it. */
public final class QueueFiring {
  private static final int LEASE_LENGTH = 32;

  private final Firing firing;
  private final Claim claim;

  QueueFiring(Firing firing, TimerRecord record) {
    this.firing = firing;
    claim = requireNonNull(record.claim(), "claim");
  }

  /** {@return what fires} */
  public Firing firing() {
    return firing;
  }

  /** {@return the token of the claim lease, an opaque text} */
  public String leaseToken() {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(claim.token().high()) + hex.toHexDigits(claim.token().low());
  }

  /** {@return when the lease ends, unless it is extended} */
  public Instant leasedUntil() {
    return Instant.ofEpochMilli(claim.until());
  }

  ClaimToken token() {
    return claim.token();
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
      throw new IllegalArgumentException("leaseToken: is not a lease token", e);
    }
    throw new IllegalArgumentException("leaseToken: is not a lease token");
  }

  @Override
  public String toString() {
    return "QueueFiring(" + firing + ", until " + leasedUntil() + ")";
  }
}
