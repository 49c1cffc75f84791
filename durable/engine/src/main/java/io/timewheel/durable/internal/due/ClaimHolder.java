// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.Outcome;
import org.jspecify.annotations.Nullable;

/** The basis of a claim: the ownership of the shard, or a separate claim lease. */
public interface ClaimHolder {
  /** Returns whether no further attempt may begin on this basis. */
  boolean isClosed();

  /** Receives the outcome of the change that ended an attempt; null if the end was not recorded. */
  void answered(TimerKey key, @Nullable Outcome outcome);
}
