// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.shop;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** An order, as stored in the database. */
record Order(String id, State state, Instant placedAt, @Nullable Instant endedAt) {
  enum State {
    PLACED,
    PAID,
    CANCELLED
  }
}
