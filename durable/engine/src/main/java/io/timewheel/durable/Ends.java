// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.Change;
import java.util.ArrayList;
import java.util.List;

/**
 * Has the ends of attempts recorded, those included that the store rejects. Whatever a store may
 * have against an end is most likely in its text, so it is asked at once to take it with a plain
 * one. If it rejects that too, it is asked again with each upkeep; until then the timer stays
 * FIRING, and nobody else begins it.
 */
final class Ends {
  /** More are left as they are to the next owner: what cannot be recorded must not fill memory. */
  private static final int MAX_KEPT = 1_000;

  private static final String PLAIN_ERROR = "failed; the store rejected the text of the error";

  private final Engine engine;
  private final List<Rejected> kept = new ArrayList<>();

  /** An end that the store did not take. */
  private record Rejected(Shard shard, Change.Finish end) {}

  Ends(Engine engine) {
    this.engine = engine;
  }

  void record(Shard shard, Change.Finish end) {
    engine.submitOwn(
        end,
        EpochMillis.saturatedSubtract(end.nextAt(), engine.claimAheadMillis()),
        outcome -> {
          if (outcome != null) {
            shard.answered(end.key(), outcome);
          } else if (end.error() != null && !end.error().equals(PLAIN_ERROR)) {
            record(shard, plain(end));
          } else {
            keep(new Rejected(shard, end));
          }
        });
  }

  private static Change.Finish plain(Change.Finish end) {
    return new Change.Finish(
        end.key(),
        end.token(),
        end.epoch(),
        end.end(),
        end.nextAt(),
        end.seriesAt(),
        PLAIN_ERROR,
        end.claimed(),
        end.now());
  }

  private void keep(Rejected rejected) {
    boolean full;
    synchronized (this) {
      full = kept.size() >= MAX_KEPT;
      if (!full) {
        kept.add(rejected);
      }
    }
    if (full) {
      rejected.shard.answered(rejected.end.key(), null);
    } else if (rejected.shard.isClosed()) {
      leave(rejected.shard);
    }
  }

  /** Asks again for all that was rejected. */
  void upkeep() {
    List<Rejected> again;
    synchronized (this) {
      again = List.copyOf(kept);
      kept.clear();
    }
    again.forEach(rejected -> record(rejected.shard, rejected.end));
  }

  /** Leaves what could not be recorded of a shard to its next owner. */
  void leave(Shard shard) {
    List<Rejected> left;
    synchronized (this) {
      left = kept.stream().filter(rejected -> rejected.shard == shard).toList();
      kept.removeAll(left);
    }
    left.forEach(rejected -> shard.answered(rejected.end.key(), null));
  }

  /** How many ends wait to be asked for again. */
  synchronized int size() {
    return kept.size();
  }
}
