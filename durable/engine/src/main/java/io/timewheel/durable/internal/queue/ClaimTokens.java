// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import io.timewheel.durable.spi.record.ClaimToken;
import java.security.SecureRandom;

/** Creates unguessable claim tokens. Thread-safe. */
final class ClaimTokens {
  private final SecureRandom random = new SecureRandom();

  ClaimToken next() {
    return new ClaimToken(random.nextLong(), random.nextLong());
  }
}
