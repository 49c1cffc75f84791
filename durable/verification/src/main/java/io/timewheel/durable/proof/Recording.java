// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.TimerKey;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.ForwardingTimerStore;
import java.util.List;

/** Tells of each success that the store below has acknowledged. */
final class Recording extends ForwardingTimerStore {
  private final Listener listener;

  /** Notified of successes. */
  interface Listener {
    void completed(TimerKey key, long version, long scheduledAtMillis);
  }

  Recording(TimerStore store, Listener listener) {
    super(store);
    this.listener = listener;
  }

  @Override
  public List<Outcome> commit(List<Change> changes) {
    Claim[] ended = new Claim[changes.size()];
    for (int i = 0; i < ended.length; i++) {
      if (changes.get(i) instanceof Change.Finish finish
          && finish.end() == Change.Finish.End.SUCCEEDED) {
        TimerRecord record = get(finish.key());
        Claim claim = record == null ? null : record.claim();
        if (claim != null && claim.token().equals(finish.token())) {
          ended[i] = claim;
        }
      }
    }
    List<Outcome> outcomes = super.commit(changes);
    for (int i = 0; i < ended.length; i++) {
      if (ended[i] != null && outcomes.get(i).answer() == Outcome.Answer.APPLIED) {
        listener.completed(changes.get(i).key(), ended[i].version(), ended[i].scheduledAt());
      }
    }
    return outcomes;
  }
}
