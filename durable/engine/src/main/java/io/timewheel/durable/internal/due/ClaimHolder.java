// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Outcome;
import org.jspecify.annotations.Nullable;

/** What an attempt is claimed under: the ownership of its shard, or a claim lease of its own. */
public interface ClaimHolder {
  /** Returns whether no attempt may begin under it any longer. */
  boolean isClosed();

  /** Ends the claim of a timer, with the store's answer to its end; null if it was rejected. */
  void answered(TimerKey key, @Nullable Outcome outcome);
}
