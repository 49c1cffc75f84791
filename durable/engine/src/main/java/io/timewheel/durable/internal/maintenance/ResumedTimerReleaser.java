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
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.HandlerNames;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Releases timers that a finished pause held, and blocked timers whose handler a live node now has.
 * It releases a page at a time, and reads the next page when the store has answered all changes of
 * the previous one. So the changes of a million timers never wait for the store at once.
 */
public final class ResumedTimerReleaser {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int PAGE = 1_000;

  /**
   * The number of maintenance passes from one full pass to the next: one hour. A full pass finds
   * timers that were imported as blocked or held.
   */
  private static final int MINUTES_PER_PASS = 60;

  private final TimerStore store;
  private final StoreTasks tasks;
  private final EngineClock clock;
  private final OwnedShards shards;
  private final KnownHandlers known;
  private final Committer committer;
  private boolean running;

  /** True if a pass was requested during the present one, which may have missed some timers. */
  private boolean again;

  /** True if the next pass reads the shards of other sessions, too. */
  private boolean everywhere;

  /** True if the last pass failed. */
  private boolean incomplete;

  private int minutes;

  public ResumedTimerReleaser(
      DueContext context, OwnedShards shards, KnownHandlers known, Committer committer) {
    store = context.store();
    tasks = context.tasks();
    clock = context.clock();
    this.shards = shards;
    this.known = known;
    this.committer = committer;
  }

  /** Begins a pass, now or after the present one. */
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
    new Pass(all).next();
  }

  /**
   * Begins a pass for a new shard, because this node may have the handlers of its blocked timers.
   */
  public void acquired() {
    if (!store.traits().sweep().isZero()) {
      start();
    }
  }

  /** Begins a pass over the shards of all sessions, because a pause is over. */
  public void startEverywhere() {
    synchronized (this) {
      everywhere = true;
    }
    start();
  }

  /**
   * Begins a pass if there may be timers to release: if other nodes can pause, resume and block
   * timers, or if the last pass failed. Otherwise, the start or the resuming call has released all
   * such timers, and a pass each minute would read the whole store unnecessarily.
   */
  void maintain() {
    boolean due;
    synchronized (this) {
      due = incomplete || ++minutes % MINUTES_PER_PASS == 0;
    }
    if (due || !store.traits().sweep().isZero()) {
      start();
    }
  }

  /**
   * One pass over the shards. Each step begins when the previous one has ended. After a resume, the
   * pass searches for held timers in all shards, otherwise only in the shards of this session. It
   * searches for blocked timers only in the shards of this session, because another owner may not
   * have their handler yet.
   */
  private final class Pass {
    private final boolean everywhere;

    /** The shards that are still to be read; null before the first step. */
    private @Nullable ArrayDeque<Integer> left;

    private HandlerNames handlers = HandlerNames.NONE;

    /** The namespaces that have held timers and are not paused. */
    private Set<String> namespaces = Set.of();

    private @Nullable DueTimer after;

    Pass(boolean everywhere) {
      this.everywhere = everywhere;
    }

    void next() {
      boolean unused = tasks.maintain(this::step); // refused only by a closed engine
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
        if (!tasks.isClosed()) { // otherwise the store may be closed
          LOG.log(
              System.Logger.Level.WARNING, "held timers are released with the next maintenance", e);
        }
        ended(false);
        return;
      }
      release(found);
    }

    /** Reads the counters. Returns the shards to read. */
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
                timer.key(), Change.Verb.Command.RELEASE, timer.version(), clock.nowMillis()),
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
