// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Decides which load of a window is next. Guarded by the lock of its shard. */
final class LoadPlan {
  private static final long NOTHING = Long.MAX_VALUE;

  private static final List<Load> LOADS = List.of(Load.values());

  private boolean restart = true;
  private boolean restartAtTick;
  private long sweepFrom = NOTHING;
  private @Nullable Load last;

  enum Load {
    /** Reads from the beginning of the part. */
    RESTART,
    /** Finds timers that other sessions have added to the part already read. */
    SWEEP,
    /** Reads the timers of handlers that were passed over and have room again. */
    CATCH_UP,
    /** Continues where the previous load of this kind has ended. */
    FRONTIER
  }

  /**
   * Returns the next load, or null if none is needed. A restart includes all others, which
   * otherwise take turns: a sweep or a catch-up may take longer than the time until the next one.
   */
  static @Nullable Load choose(Set<Load> needed, @Nullable Load last) {
    if (needed.contains(Load.RESTART)) {
      return Load.RESTART;
    }
    int before = last == null ? -1 : LOADS.indexOf(last);
    for (int i = 1; i <= LOADS.size(); i++) {
      Load load = LOADS.get((before + i) % LOADS.size());
      if (needed.contains(load)) {
        return load;
      }
    }
    return null;
  }

  /** Returns the next load, or null if none is needed. */
  @Nullable Load next(boolean catchUp, boolean frontier) {
    Set<Load> needed = EnumSet.noneOf(Load.class);
    if (restart) {
      needed.add(Load.RESTART);
    }
    if (sweepFrom != NOTHING) {
      needed.add(Load.SWEEP);
    }
    if (catchUp) {
      needed.add(Load.CATCH_UP);
    }
    if (frontier) {
      needed.add(Load.FRONTIER);
    }
    return choose(needed, last);
  }

  /** Begins a load. Returns the due time from which a sweep reads. */
  long begin(Load load) {
    long from = sweepFrom;
    last = load;
    if (load == Load.RESTART) {
      restart = false;
    }
    if (load == Load.RESTART || load == Load.SWEEP) {
      sweepFrom = NOTHING;
    }
    return from;
  }

  void restart() {
    restart = true;
  }

  /** Requests a restart after the next maintenance tick. */
  void restartAtTick() {
    restartAtTick = true;
  }

  void sweep(long fireAt) {
    sweepFrom = Math.min(sweepFrom, fireAt);
  }

  void tick() {
    restart |= restartAtTick;
    restartAtTick = false;
  }

  boolean restartsAtTick() {
    return restartAtTick;
  }

  /** Returns whether a restart is requested, at once or at the next tick. */
  boolean restarts() {
    return restart || restartAtTick;
  }
}
