// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.record.Change;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Verifies that the epochs of a batch's changes are the current ones of their shards. A change of
 * an owner that has lost its shard is stale. The epochs are read and locked in the same transaction
 * as the writes.
 */
final class Fence {
  private final int shards;
  private final Function<Integer, @Nullable Long> ownEpoch;

  /** The current epochs of shards for which this batch had another epoch. */
  private final Map<Integer, Long> found = new HashMap<>();

  /** The epochs of this try, by shard. */
  private final Map<Integer, Long> assumed = new TreeMap<>();

  /**
   * @param ownEpoch the epoch under which this session owns a shard; null if it does not own it
   */
  Fence(int shards, Function<Integer, @Nullable Long> ownEpoch) {
    this.shards = shards;
    this.ownEpoch = ownEpoch;
  }

  /** Begins a try. */
  void begin() {
    assumed.clear();
  }

  /** Returns whether a change is known to be stale. If it is not, its epoch is verified later. */
  boolean isStale(Change change) {
    if (change.epoch() == 0) {
      return false;
    }
    int shard = Shards.of(change.key(), shards);
    Long epoch = found.get(shard);
    if (epoch == null) {
      epoch = ownEpoch.apply(shard);
    }
    if (epoch != null && epoch != change.epoch()) {
      return true;
    }
    Long before = assumed.putIfAbsent(shard, change.epoch());
    return before != null && before != change.epoch();
  }

  /** {@return the shards whose epochs must be verified, in order} */
  List<Integer> shards() {
    return List.copyOf(assumed.keySet());
  }

  /** Returns whether the epochs of this try are the present ones, which are locked. */
  boolean holds(Map<Integer, Long> present) {
    boolean holds = true;
    for (Map.Entry<Integer, Long> held : assumed.entrySet()) {
      Long epoch = requireNonNull(present.get(held.getKey()), "no such shard");
      if (!epoch.equals(held.getValue())) {
        found.put(held.getKey(), epoch);
        holds = false;
      }
    }
    return holds;
  }
}
