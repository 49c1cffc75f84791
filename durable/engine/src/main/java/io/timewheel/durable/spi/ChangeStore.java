// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.util.List;

/**
 * Applies changes of timers: a {@link TimerStore}, or a transaction of the application in the
 * database of one.
 */
public interface ChangeStore {
  /**
   * Applies a batch of changes. Each change is atomic, together with its index entries and
   * counters. When this method of a {@link TimerStore} returns, all applied changes are durable,
   * except {@link Change.Begin}. Those of a transaction become durable with it. Changes of the same
   * key are applied in the order of the list. A session never commits two batches with changes of
   * the same key at the same time.
   *
   * <p>The answer to a change with a {@link Change#request} is stored in the same commit. It is
   * found until it is {@linkplain TimerStore#purgeAnswers deleted}, however many requests follow.
   *
   * @param changes the changes; at least one. A {@link TimerStore} takes at most {@link
   *     StoreTraits#maxBatch()}
   * @return an outcome for each, in the same order
   * @throws StoreException if none of them was applied, or with {@link
   *     StoreException.Kind#UNKNOWN}, if some of them may have been
   */
  List<Outcome> commit(List<Change> changes);
}
