// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.maintenance;

import io.timewheel.durable.internal.attempt.KnownHandlers;
import io.timewheel.durable.internal.commit.Committer;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.due.DueContext;
import io.timewheel.durable.internal.due.OwnedShards;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.model.TimerState;
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
public final class ResumedTimerReleaser {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int PAGE = 1_000;

  /** An hour: what was imported meanwhile, and was blocked or held where it came from. */
  private static final int UPKEEPS_PER_ROUND = 60;

  private final TimerStore store;
  private final StoreTasks tasks;
  private final EngineClock clock;
  private final OwnedShards shards;
  private final KnownHandlers known;
  private final Committer committer;
  private boolean running;

  /** Whether something was asked for that the present round may have passed by already. */
  private boolean again;

  /** True if the next pass reads the shards of other sessions, too. */
  private boolean everywhere;

  /** Whether a round could not be ended. */
  private boolean incomplete;

  private int upkeeps;

  public ResumedTimerReleaser(
      DueContext context, OwnedShards shards, KnownHandlers known, Committer committer) {
    store = context.store();
    tasks = context.tasks();
    clock = context.clock();
    this.shards = shards;
    this.known = known;
    this.committer = committer;
  }

  /** Begins a pass; or has one begin when the present one has ended. */
  public void start() {
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

  /** A shard has come from elsewhere: a blocked timer of it may have its handler here. */
  public void acquired() {
    if (!store.traits().sweep().isZero()) {
      start();
    }
  }

  /** Does the same in the shards of all sessions: a pause is over. */
  public void startEverywhere() {
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
    private @Nullable ArrayDeque<Integer> left;

    private HandlerNames handlers = HandlerNames.NONE;

    /** Those that have held timers, and are not paused. */
    private Set<String> namespaces = Set.of();

    private @Nullable DueTimer after;

    Round(boolean everywhere) {
      this.everywhere = everywhere;
    }

    void next() {
      boolean unused = tasks.upkeep(this::step); // refused only by a closed engine
    }

    private void step() {
      List<DueTimer> found;
      try {
        if (left == null) {
          left = begin();
        }
        Integer shard = left.peek();
        if (shard == null) {
          ended(true);
          return;
        }
        HandlerNames here = shards.owns(shard) ? handlers : HandlerNames.NONE;
        found = store.releasable(shard, here, namespaces, after, PAGE);
        after = found.size() == PAGE ? found.get(PAGE - 1) : null;
        if (after == null) {
          left.remove();
        }
      } catch (RuntimeException | Error e) {
        if (!tasks.isClosed()) { // or the store may be closed by now
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
      handlers = blocked ? known.all() : HandlerNames.NONE;
      namespaces = paused.contains(TimerStore.EVERYTHING) ? Set.of() : resumed;
      ArrayDeque<Integer> all = new ArrayDeque<>();
      if (blocked || !namespaces.isEmpty()) {
        for (int shard = 0; shard < store.traits().shards(); shard++) {
          if (everywhere || shards.owns(shard)) {
            all.add(shard);
          }
        }
      }
      return all;
    }

    private void release(List<DueTimer> found) {
      AtomicInteger unanswered = new AtomicInteger(found.size());
      if (found.isEmpty()) {
        next();
      }
      for (DueTimer timer : found) {
        committer.submitOwn(
            new Change.Verb(
                timer.key(), Change.Verb.What.RELEASE, timer.version(), clock.nowMillis()),
            outcome -> {
              if (unanswered.decrementAndGet() == 0) {
                next();
              }
            });
      }
    }

    private void ended(boolean complete) {
      synchronized (ResumedTimerReleaser.this) {
        running = false;
        incomplete = !complete;
        ResumedTimerReleaser.this.everywhere |= everywhere && !complete;
        if (!again || tasks.isClosed()) {
          return;
        }
      }
      start();
    }
  }
}
