// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.HandlerNames;
import io.timewheel.durable.spi.TimerStore;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Puts back what was held by pauses that are over, and timers that were blocked and whose handler a
 * live node knows: a page at a time, and the next one when the store has answered all of it. So a
 * million of them are never on their way to the store at once.
 */
final class Releases {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int PAGE = 1_000;

  /** An hour: what was imported meanwhile, and was blocked or held where it came from. */
  private static final int UPKEEPS_PER_ROUND = 60;

  private final Engine engine;
  private final TimerStore store;
  private boolean running;

  /** Whether something was asked for that the present round may have passed by already. */
  private boolean again;

  /** True if the next pass reads the shards of other sessions, too. */
  private boolean everywhere;

  /** Whether a round could not be ended. */
  private boolean incomplete;

  private int upkeeps;

  Releases(Engine engine, TimerStore store) {
    this.engine = engine;
    this.store = store;
  }

  /** Begins a pass; or has one begin when the present one has ended. */
  void start() {
    boolean all;
    synchronized (this) {
      again = running;
      if (running) {
        return;
      }
      running = true;
      all = everywhere;
      everywhere = false;
    }
    new Round(all).next();
  }

  /** Does the same in the shards of all sessions: a pause is over. */
  void startEverywhere() {
    synchronized (this) {
      everywhere = true;
    }
    start();
  }

  /**
   * Begins a round if there may be something to find: where other nodes pause, resume and park too,
   * and after one that failed. Otherwise what can be released was, at the start or by whoever
   * resumed; to look again each minute would read the whole store for timers that stay as they are.
   */
  void upkeep() {
    boolean due;
    synchronized (this) {
      due = incomplete || ++upkeeps % UPKEEPS_PER_ROUND == 0;
    }
    if (due || !store.traits().sweep().isZero()) {
      start();
    }
  }

  /**
   * One pass through the shards: each step begins when the one before it is over. Held timers are
   * looked for in all shards after a resume, otherwise in those of this session, as blocked timers
   * always are: another owner may not have heard yet that their handler is known.
   */
  private final class Round {
    private final boolean everywhere;

    /** The shards that are still to be read; null before the first step. */
    private @Nullable ArrayDeque<Integer> shards;

    private HandlerNames handlers = HandlerNames.NONE;

    /** Those that have held timers, and are not paused. */
    private Set<String> namespaces = Set.of();

    private @Nullable DueTimer after;

    Round(boolean everywhere) {
      this.everywhere = everywhere;
    }

    void next() {
      boolean unused = engine.executeUpkeep(this::step); // refused only by a closed engine
    }

    private void step() {
      List<DueTimer> found;
      try {
        if (shards == null) {
          shards = begin();
        }
        Integer shard = shards.peek();
        if (shard == null) {
          ended(true);
          return;
        }
        HandlerNames known = engine.owns(shard) ? handlers : HandlerNames.NONE;
        found = store.releasable(shard, known, namespaces, after, PAGE);
        after = found.size() == PAGE ? found.get(PAGE - 1) : null;
        if (after == null) {
          shards.remove();
        }
      } catch (RuntimeException | Error e) {
        if (!engine.isClosing()) { // or the store may be closed by now
          LOG.log(System.Logger.Level.WARNING, "what was held is released with the next upkeep", e);
        }
        ended(false);
        return;
      }
      release(found);
    }

    /** Reads the counters. {@return the shards to read} */
    private ArrayDeque<Integer> begin() {
      Set<String> paused = store.paused();
      Set<String> resumed = new HashSet<>();
      boolean blocked = false;
      for (Map.Entry<String, Map<TimerState, Long>> counts : store.counts().entrySet()) {
        blocked |= counts.getValue().containsKey(TimerState.BLOCKED);
        if (counts.getValue().containsKey(TimerState.PAUSED) && !paused.contains(counts.getKey())) {
          resumed.add(counts.getKey());
        }
      }
      handlers = blocked ? engine.handlers().all() : HandlerNames.NONE;
      namespaces = paused.contains(TimerStore.EVERYTHING) ? Set.of() : resumed;
      ArrayDeque<Integer> all = new ArrayDeque<>();
      if (blocked || !namespaces.isEmpty()) {
        for (int shard = 0; shard < store.traits().shards(); shard++) {
          if (everywhere || engine.owns(shard)) {
            all.add(shard);
          }
        }
      }
      return all;
    }

    private void release(List<DueTimer> found) {
      AtomicInteger left = new AtomicInteger(found.size());
      if (found.isEmpty()) {
        next();
      }
      for (DueTimer timer : found) {
        engine.submitOwn(
            new Change.Verb(
                timer.key(), Change.Verb.What.RELEASE, timer.version(), engine.nowMillis()),
            outcome -> {
              if (left.decrementAndGet() == 0) {
                next();
              }
            });
      }
    }

    private void ended(boolean complete) {
      synchronized (Releases.this) {
        running = false;
        incomplete = !complete;
        Releases.this.everywhere |= everywhere && !complete;
        if (!again || engine.isClosing()) {
          return;
        }
      }
      start();
    }
  }
}
