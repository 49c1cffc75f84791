// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** A store that reports each success that the store below has committed. */
public final class RecordingStore extends ForwardingTimerStore {
  private final BiConsumer<TimerKey, Claim> listener;

  /**
   * Creates a store on top of another one.
   *
   * @param store the store below
   * @param listener called for each success, on the thread of the commit
   */
  public RecordingStore(TimerStore store, Consumer<History.Completed> listener) {
    this(
        store,
        (key, claim) ->
            listener.accept(new History.Completed(key, claim.version(), claim.scheduledAt())));
    requireNonNull(listener, "listener");
  }

  /**
   * Creates a store on top of another one.
   *
   * @param store the store below
   * @param listener called with the claim of each successful attempt, on the thread of the commit
   */
  public RecordingStore(TimerStore store, BiConsumer<TimerKey, Claim> listener) {
    super(store);
    this.listener = requireNonNull(listener, "listener");
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
        listener.accept(changes.get(i).key(), ended[i]);
      }
    }
    return outcomes;
  }
}
