// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.TimerRecord;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A shard for as long as one session owns it, under one epoch: what of it is being handled, and the
 * windows on what is due.
 *
 * <h2>What is overdue does not crowd out what comes</h2>
 *
 * There may be millions of overdue timers: after a restart, after a jump of the clock, or because a
 * handler is too slow. A window that went through them in order would reach the present only when
 * it is through. So the due index is parted at a moment: what is due before it belongs to the
 * window {@code overdue}, the rest to the window {@code coming}, each with entries of its own. When
 * the former has nothing left, the latter takes over its part. The index is parted anew whenever
 * {@code coming} itself is full of what is overdue. In {@code overdue} each handler has a share, so
 * that one which stands still is passed over.
 *
 * <p>What was due before the shard was acquired, or before the clock jumped, is let through at a
 * bounded rate by {@code OverdueRate}. A handler that is merely slow is not slowed down further.
 */
public final class Shard implements ClaimHolder {
  final int number;
  public final long epoch;
  private final DueContext context;
  private final Sweeps sweeps;
  private final int overdueCap;

  /** Of this shard and its windows. Taken before the lock of a handler queue, never after it. */
  final ReentrantLock lock = new ReentrantLock();

  private final Window coming;
  private @Nullable Window overdue;

  private final Map<TimerKey, Handled> running = new HashMap<>();

  private volatile long pacedBeforeMillis;
  private boolean closed;

  /** Whether the store has rejected a step since the last upkeep. */
  private volatile boolean rejected;

  private final CompletableFuture<Void> quiet = new CompletableFuture<>();

  Shard(DueContext context, Sweeps sweeps, int number, long epoch, int cap) {
    this.context = context;
    this.sweeps = sweeps;
    this.number = number;
    this.epoch = epoch;
    overdueCap = Math.max(context.sink().shares(), cap / 4);
    coming = new Window(context, this, Math.max(1, cap - overdueCap), Integer.MAX_VALUE);
    partAndPace(context.nowMillis());
  }

  /** Whether something that is due is held to the rate of what was overdue. */
  public boolean isPaced(long fireAtMillis) {
    return fireAtMillis < pacedBeforeMillis;
  }

  // Parts

  /** Parts the index at a time, before which the world was asleep. */
  void partAndPace(long nowMillis) {
    lock.lock();
    try {
      pacedBeforeMillis = nowMillis;
      part(nowMillis);
    } finally {
      lock.unlock();
    }
  }

  /** The clock has gone back: the world was not asleep before a time that is yet to come. */
  void clockWentBack(long nowMillis) {
    lock.lock();
    try {
      if (pacedBeforeMillis > nowMillis) {
        pacedBeforeMillis = nowMillis;
        part(nowMillis);
      }
    } finally {
      lock.unlock();
    }
  }

  private void part(long nowMillis) {
    if (closed) {
      return;
    }
    if (overdue == null) {
      overdue = new Window(context, this, overdueCap, overdueCap / context.sink().shares());
    }
    overdue.endAt(nowMillis);
    coming.beginAt(nowMillis);
  }

  /** Reads what has come into reach, and parts or joins the windows if it is time for that. */
  void look() {
    Window second;
    lock.lock();
    try {
      if (overdue != null && overdue.isExhausted()) {
        overdue = null;
        coming.beginAt(Long.MIN_VALUE);
      }
      long nowMillis = context.nowMillis();
      if (coming.isStuckBefore(nowMillis)) {
        part(nowMillis);
      }
      second = overdue;
    } finally {
      lock.unlock();
    }
    coming.loadIfRoom();
    if (second != null) {
      second.loadIfRoom();
    }
  }

  // What is being handled

  /**
   * The latest reading of a timer that began to be handled, and how many times it is: twice, if it
   * was replaced meanwhile.
   */
  private record Handled(DueTimer due, int count) {}

  /**
   * Whether a reading of a timer says nothing that is not being handled: of a handler, also that
   * this version runs. A consumer may have leased a run whose owner is not answered yet, and that
   * lease ends. Under the lock.
   */
  boolean isHandling(DueTimer due) {
    Handled handled = running.get(due.key());
    return handled != null
        && (!due.isNewerThan(handled.due())
            || (due.state() == TimerState.RUNNING
                && !due.queue()
                && due.version() == handled.due().version()));
  }

  /** Called under the lock; false if nothing may begin. */
  boolean begin(DueTimer due) {
    if (!closed) {
      running.merge(
          due.key(), new Handled(due, 1), (old, one) -> new Handled(due, old.count() + 1));
    }
    return !closed;
  }

  private void end(TimerKey key) {
    running.computeIfPresent(
        key,
        (same, handled) ->
            handled.count() == 1 ? null : new Handled(handled.due(), handled.count() - 1));
  }

  /**
   * Ends what {@link DueEntry#begin} began, with what the store made of it; null if it rejected the
   * step: then the record is read again with the next upkeep.
   */
  @Override
  public void answered(TimerKey key, @Nullable Outcome outcome) {
    if (outcome == null) {
      rejected = true;
    }
    ended(key, outcome == null ? null : outcome.record());
  }

  /** Ends what {@link DueEntry#begin} began, with the record as it is then, if there is one. */
  public void ended(TimerKey key, @Nullable TimerRecord record) {
    lock.lock();
    try {
      end(key);
    } finally {
      lock.unlock();
    }
    completeIfQuiet();
    if (record != null && !isOpenHere(record)) {
      observe(record);
    }
    look();
  }

  /** Whether a claim of this owner is open, so that none can begin: its end was rejected. */
  private boolean isOpenHere(TimerRecord record) {
    Claim claim = record.claim();
    return record.state() == TimerState.RUNNING && claim != null && claim.epoch() == epoch;
  }

  /** Reads again what the store has rejected a step of. */
  public void upkeep() {
    if (rejected) {
      rejected = false;
      reload();
    }
  }

  /** Ends what began, when nobody knows how it stands: it is read again with the next beat. */
  public void endedUnknown(TimerKey key) {
    lock.lock();
    try {
      end(key);
      coming.startAgainLater();
      if (overdue != null) {
        overdue.startAgainLater();
      }
    } finally {
      lock.unlock();
    }
    completeIfQuiet();
  }

  /** A record as it was left by a commit. */
  void observe(TimerRecord record) {
    coming.observe(record);
    Window second = overdue();
    if (second != null) {
      second.observe(record);
    }
  }

  /** Takes what a reading has found; false if the wheel refuses more. */
  boolean offer(DueTimer due) {
    Window second = overdue();
    return coming.offer(due) && (second == null || second.offer(due));
  }

  private @Nullable Window overdue() {
    lock.lock();
    try {
      return overdue;
    } finally {
      lock.unlock();
    }
  }

  // Hints and time

  /** Reads again what could not be read or held before, and what has come into reach. */
  public void beat() {
    lock.lock();
    try {
      coming.beat();
      if (overdue != null) {
        overdue.beat();
      }
    } finally {
      lock.unlock();
    }
    look();
  }

  /** Reads the windows again from their beginnings, for what may have been missed. */
  public void reload() {
    lock.lock();
    try {
      coming.startAgain();
      if (overdue != null) {
        overdue.startAgain();
      }
    } finally {
      lock.unlock();
    }
    look();
  }

  /** Looks for what others have put into what was read already, from a time on. */
  void sweep(long fireAt) {
    lock.lock();
    try {
      coming.sweep(fireAt);
      if (overdue != null) {
        overdue.sweep(fireAt);
      }
    } finally {
      lock.unlock();
    }
    look();
  }

  /** Counts timers that a window has found where it was swept before. */
  void found(int timers) {
    sweeps.found(timers);
  }

  /** A hint that something was added from elsewhere. */
  void hint(long fireAt) {
    boolean near;
    lock.lock();
    try {
      near = coming.reaches(fireAt) || (overdue != null && overdue.reaches(fireAt));
    } finally {
      lock.unlock();
    }
    if (near) {
      sweep(fireAt);
    }
  }

  /** Sets every entry to the wall clock again. */
  void rearm() {
    lock.lock();
    try {
      coming.rearm();
      if (overdue != null) {
        overdue.rearm();
      }
    } finally {
      lock.unlock();
    }
  }

  // The end

  /** Drops all entries; what runs goes on, and its end is still recorded if the epoch stands. */
  public void close() {
    lock.lock();
    try {
      closed = true;
      coming.close();
      if (overdue != null) {
        overdue.close();
      }
    } finally {
      lock.unlock();
    }
    context.sink().left(this);
    completeIfQuiet();
  }

  /** Completed when it is closed and nothing of it is being handled any more. */
  CompletableFuture<Void> quiet() {
    return quiet.copy();
  }

  private void completeIfQuiet() {
    boolean isQuiet;
    lock.lock();
    try {
      isQuiet = closed && running.isEmpty();
    } finally {
      lock.unlock();
    }
    if (isQuiet) {
      quiet.complete(null);
    }
  }

  /** Whether the shard is being given away, or has been: what has not begun here, does not. */
  @Override
  public boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  int size() {
    lock.lock();
    try {
      return coming.size() + (overdue == null ? 0 : overdue.size());
    } finally {
      lock.unlock();
    }
  }
}
