// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A shard while one session owns it under one epoch: its timers that are being handled, and the
 * windows on its due index.
 *
 * <h2>Overdue timers do not delay the others</h2>
 *
 * Millions of timers may be overdue after a restart, after a jump of the clock, or because a
 * handler is too slow. A single window would reach the present only after all of them. So the due
 * index is divided at a time: the window {@code overdue} contains earlier timers, and the window
 * {@code coming} the others. When {@code overdue} is empty, {@code coming} takes over its part. The
 * index is divided again whenever {@code coming} is itself full of overdue timers. In {@code
 * overdue} each handler has a share, so that a stalled one is passed over.
 *
 * <p>{@code OverdueRate} limits the rate of timers that were due before the shard was acquired or
 * the clock jumped. It does not slow down a handler that is merely slow.
 */
public final class Shard implements ClaimHolder {
  final int number;
  public final long epoch;
  private final DueContext context;
  private final Sweeps sweeps;
  private final int overdueCap;

  /**
   * Guards this shard and its windows. Taken before the lock of a handler queue, never after it.
   */
  final ReentrantLock lock = new ReentrantLock();

  private final Window coming;
  private @Nullable Window overdue;

  private final Map<TimerKey, Handled> running = new HashMap<>();

  private volatile long pacedBeforeMillis;

  /** Set under the lock, but read by handler queues without it. */
  private volatile boolean closed;

  /** True if the store has rejected a change since the last maintenance pass. */
  private volatile boolean rejected;

  private final CompletableFuture<Void> quiet = new CompletableFuture<>();

  Shard(DueContext context, Sweeps sweeps, int number, long epoch, int cap) {
    this.context = context;
    this.sweeps = sweeps;
    this.number = number;
    this.epoch = epoch;
    overdueCap = Math.max(context.handlers().shares(), cap / 4);
    coming = new Window(context, this, Math.max(1, cap - overdueCap), Integer.MAX_VALUE);
    partAndPace(context.nowMillis());
  }

  /** Returns whether the overdue rate applies to a timer. */
  public boolean isPaced(long fireAtMillis) {
    return fireAtMillis < pacedBeforeMillis;
  }

  // Division of the index

  /** Divides the index at a time, and limits the rate of timers that were due before it. */
  void partAndPace(long nowMillis) {
    lock.lock();
    try {
      pacedBeforeMillis = nowMillis;
      part(nowMillis);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Handles a backward step of the clock: the overdue rate must not apply to times in the future.
   */
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
      overdue = new Window(context, this, overdueCap, overdueCap / context.handlers().shares());
    }
    overdue.endAt(nowMillis);
    coming.beginAt(nowMillis);
  }

  /** Loads timers that are due soon, and divides or joins the windows if needed. */
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

  // Timers that are being handled

  /**
   * The latest reading of a timer that is being handled, and the number of its handlings: two if
   * the timer was replaced during its handling.
   */
  private record Handled(DueTimer due, int count) {}

  /**
   * Returns whether a reading of a timer requires no action because the timer is being handled. For
   * a timer of a handler, this includes a reading in which this version is RUNNING. For a timer of
   * a queue it does not. A consumer may have leased the run before the owner got the store's
   * answer, and the owner must end that lease. Called under the lock.
   */
  boolean isHandling(DueTimer due) {
    Handled handled = running.get(due.key());
    return handled != null
        && (!due.isNewerThan(handled.due())
            || (due.state() == TimerState.RUNNING
                && !due.queue()
                && due.version() == handled.due().version()));
  }

  /** Begins to handle a timer. Returns false if it must not begin. Called under the lock. */
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
   * Ends the handling that {@link DueQueue#take} began, with the outcome of its change. The outcome
   * is null if the store rejected the change; the next maintenance pass then reads the record
   * again.
   */
  @Override
  public void answered(TimerKey key, @Nullable Outcome outcome) {
    if (outcome == null) {
      rejected = true;
    }
    ended(key, outcome == null ? null : outcome.record());
  }

  /**
   * Ends the handling that {@link DueQueue#take} began, with the present record, if there is one.
   */
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

  /**
   * Returns whether a claim of this owner is open because its end was rejected. Then no attempt can
   * begin.
   */
  private boolean isOpenHere(TimerRecord record) {
    Claim claim = record.claim();
    return record.state() == TimerState.RUNNING && claim != null && claim.epoch() == epoch;
  }

  /** Reads the windows again if the store has rejected a change. */
  public void maintain() {
    if (rejected) {
      rejected = false;
      reload();
    }
  }

  /** Ends the handling of a timer in an unknown state. The next maintenance tick reads it again. */
  public void endedUnknown(TimerKey key) {
    lock.lock();
    try {
      end(key);
      forEachWindow(window -> window.plan.restartAtTick());
    } finally {
      lock.unlock();
    }
    completeIfQuiet();
  }

  /** Passes a record to the windows after a commit. */
  void observe(TimerRecord record) {
    coming.observe(record);
    Window second = overdue();
    if (second != null) {
      second.observe(record);
    }
  }

  /** Adds a timer that a read has found. Returns false if the wheel refuses further entries. */
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

  // Notifications and time

  /**
   * Reads timers again that could not be read or put on the wheel, and loads timers that are due
   * soon.
   */
  public void tick() {
    forEachWindow(Window::tick);
    look();
  }

  /** Reads the windows again from their beginnings, because timers may have been missed. */
  public void reload() {
    forEachWindow(window -> window.plan.restart());
    look();
  }

  /**
   * Finds timers that other sessions have added to the part that was already read, from a time on.
   */
  void sweep(long fireAt) {
    forEachWindow(window -> window.plan.sweep(fireAt));
    look();
  }

  /** Counts timers that a window has found in a sweep. */
  void found(int timers) {
    sweeps.found(timers);
  }

  /** Handles the notification that another session has added a timer. */
  void notification(long fireAt) {
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

  /** Re-arms all entries by the wall clock. */
  void rearm() {
    forEachWindow(Window::rearm);
  }

  private void forEachWindow(Consumer<Window> action) {
    lock.lock();
    try {
      action.accept(coming);
      if (overdue != null) {
        action.accept(overdue);
      }
    } finally {
      lock.unlock();
    }
  }

  // Close

  /**
   * Drops all entries. Running attempts continue, and their ends are still recorded if the epoch is
   * still current.
   */
  public void close() {
    lock.lock();
    try {
      closed = true;
      forEachWindow(Window::close);
    } finally {
      lock.unlock();
    }
    context.sink().left(this);
    completeIfQuiet();
  }

  /**
   * Returns a future that completes when the shard is closed and none of its timers is being
   * handled.
   */
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

  /** Returns whether the shard was or is being given away. Then no further attempt begins here. */
  @Override
  public boolean isClosed() {
    return closed;
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
