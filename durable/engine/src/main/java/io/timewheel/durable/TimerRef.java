// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.VerbResult;
import java.util.Optional;

/** One timer of a scheduler, whether it exists or not. Each command blocks until the commit. */
public final class TimerRef extends TimerCommands<CancelResult, VerbResult> {
  private final Requests requests;
  private final TimerKey key;

  TimerRef(Requests requests, TimerKey key) {
    super(
        requests.changes,
        call -> requests.await(requests.one(key, call)),
        call -> requests.await(requests.one(key, call)));
    this.requests = requests;
    this.key = key;
  }

  /** {@return the timer, including a retained finished one; empty if there is none} */
  public Optional<TimerInfo> get() {
    return requests.get(key);
  }
}
