// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.HeldTimersException;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Commits the waiting changes of some of the keys, one batch at a time. {@link BatchCommit}
 * describes how a batch is divided so that a change that fails affects no other change, and {@link
 * Committer} which changes with an unknown outcome are repeated.
 *
 * <p>Failed changes are repeated after a wait. It does not delay later changes of the same timer:
 * they may be committed before the repeated change. Otherwise a change of the engine that fails
 * each time would block its timer, and callers could not cancel it.
 *
 * <p>Changes of held timers, which other transactions have locked, are repeated after a wait too,
 * but in the order of each timer. Those of callers fail after {@link PendingChange#HELD_LIMIT}.
 *
 * <p>The file is long because calls that wait for room, the drain and the repeated changes share
 * one monitor.
 */
public final class CommitLane {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final long REFUSED_WAIT_MILLIS = 1_000;

  /** The number of waiting non-urgent changes at which the lane commits at once. */
  private static final int MAX_NON_URGENT = 100;

  /** The age of a batch from which the lane is slow. */
  static final Duration SLOW = Duration.ofMillis(100);

  private final Settings settings;
  private final Executor executor;
  private final ChangeQueue queue;

  /** The time at which the present batch was submitted to the executor; null if there is none. */
  private volatile @Nullable Long drainSinceNanos;

  /** True if the commit of changes that are not urgent is timed. */
  private boolean nonUrgentTimed;

  /** The number of committed batches whose outcomes the engine has not processed yet. */
  private int processing;

  /** True if the executor has rejected the task. A caller or a timer submits it again. */
  private boolean refused;

  private volatile boolean refusing;
  private volatile boolean closed;

  /**
   * The settings of all lanes of a store.
   *
   * @param listener the listener, from the first commit on; it is created after the committer
   * @param ownExecutor the executor on which the engine processes outcomes
   */
  public record Settings(
      TimerStore store,
      Delays delays,
      StoreTasks tasks,
      EngineClock clock,
      Supplier<Committer.Listener> listener,
      Executor ownExecutor,
      int capacity,
      boolean refuseWhenFull) {}

  CommitLane(Settings settings, Executor executor) {
    this.settings = settings;
    this.executor = executor;
    queue = new ChangeQueue(settings.capacity);
  }

  void add(PendingChange item, boolean late) {
    boolean start;
    synchronized (this) {
      awaitRoom(item, late);
      checkOpen(late);
      queue.addCallers(item);
      start = startDraining();
    }
    if (start) {
      execute();
    }
  }

  void addAll(List<PendingChange> items, boolean late) {
    int added = 0;
    while (added < items.size()) {
      boolean start;
      try {
        synchronized (this) {
          awaitRoom(items.get(added), late);
          checkOpen(late);
          do {
            queue.addCallers(items.get(added++));
          } while (added < items.size() && hasRoom());
          start = startDraining();
        }
      } catch (DurableTimerException | IllegalStateException e) {
        items.get(added++).refuse(e);
        continue;
      }
      if (start) {
        execute();
      }
    }
  }

  private boolean hasRoom() {
    return queue.callersWaiting() < settings.capacity && !queue.isHeavy();
  }

  private void checkOpen(boolean late) {
    if (closed || (refusing && !late)) {
      throw Committer.closed();
    }
  }

  /** Waits while the queue is full. */
  private void awaitRoom(PendingChange item, boolean late) {
    while (!hasRoom() && !closed && (!refusing || late)) {
      if (settings.refuseWhenFull) {
        throw busy(item, null);
      }
      try {
        wait();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw busy(item, e);
      }
    }
  }

  private DurableTimerException busy(PendingChange item, @Nullable InterruptedException interrupt) {
    return new DurableTimerException(
        Reason.BUSY,
        0,
        item.change.key()
            + ": "
            + queue.callersWaiting()
            + " changes wait for the store (expected: fewer than "
            + settings.capacity
            + (queue.isHeavy() ? ", of " + ChangeQueue.MAX_BYTES + " bytes" : "")
            + (interrupt == null ? ")" : "), and the thread that waited was interrupted"),
        interrupt);
  }

  void addOwn(PendingChange item) {
    synchronized (this) {
      if (!closed) {
        queue.addOwn(item);
      }
    }
    drainIfReady();
  }

  /** Adds a change of a backlog. It may be committed in the same batches as changes of callers. */
  void addBulk(PendingChange item) {
    synchronized (this) {
      if (!closed) {
        queue.addBulk(item);
      }
    }
    drainIfReady();
  }

  /**
   * Adds a change of the engine that is not urgent. It waits for other changes as long as the store
   * allows, because a separate commit would cost more than the change.
   */
  void addNonUrgent(PendingChange item) {
    boolean first;
    synchronized (this) {
      if (closed) {
        return;
      }
      queue.addNonUrgent(item);
      first = !nonUrgentTimed;
      nonUrgentTimed = true;
      if (refusing || queue.nonUrgentWaiting() >= MAX_NON_URGENT) {
        queue.releaseNonUrgent();
      }
    }
    drainIfReady();
    if (first) {
      boolean ends = false;
      try {
        ends =
            settings.delays.start(this::releaseNonUrgent, settings.store.traits().nonUrgentDelay())
                != null;
      } catch (IllegalStateException e) { // the change is in the queue, so the caller must not fail
        LOG.log(System.Logger.Level.DEBUG, "stopped while a change waited for others", e);
      } finally {
        if (!ends) { // the wheel refuses, or was stopped
          releaseNonUrgent();
        }
      }
    }
  }

  private void releaseNonUrgent() {
    synchronized (this) {
      nonUrgentTimed = false;
      queue.releaseNonUrgent();
    }
    drainIfReady();
  }

  private void drainIfReady() {
    boolean start;
    synchronized (this) {
      start = startDraining();
    }
    if (start) {
      execute();
    }
  }

  /** Returns whether the present batch takes so long that new changes should use other lanes. */
  boolean isSlow() {
    Long sinceNanos = drainSinceNanos;
    return sinceNanos != null && settings.delays.nanoTime() - sinceNanos >= SLOW.toNanos();
  }

  synchronized boolean isIdle() {
    return drainSinceNanos == null && processing == 0 && queue.isEmpty();
  }

  /**
   * Returns whether the engine has not yet processed the outcome of a committed change of its own.
   */
  synchronized boolean isProcessing() {
    return processing > 0;
  }

  synchronized int callersWaiting() {
    return queue.callersWaiting();
  }

  synchronized int ownWaiting() {
    return queue.ownWaiting();
  }

  /**
   * Refuses further changes of callers, including those that wait for room, but accepts those of
   * handlers.
   */
  void refuseCallers() {
    synchronized (this) {
      refusing = true;
      notifyAll();
    }
    releaseNonUrgent();
  }

  /** Closes the lane. Waiting calls fail. The next owner of a shard handles its open claims. */
  void close() {
    List<PendingChange> left;
    synchronized (this) {
      refusing = true;
      closed = true;
      left = queue.takeAll();
      notifyAll();
    }
    left.removeIf(PendingChange::isOwn);
    giveUp(left, Committer.closed());
  }

  private void giveUp(List<PendingChange> items, Throwable cause) {
    for (PendingChange item : items) {
      item.fail(Reason.STORE_UNAVAILABLE, cause);
    }
  }

  // One commit at a time

  private boolean startDraining() {
    boolean start = drainSinceNanos == null && (refused ? queue.hasCallers() : queue.isReady());
    if (start) {
      drainSinceNanos = settings.delays.nanoTime();
    }
    return start;
  }

  private void execute() {
    try {
      settings.tasks.execute(executor, this::drain);
    } catch (RuntimeException | Error e) {
      synchronized (this) { // before any call, because the stack may be full
        drainSinceNanos = null;
      }
      refused(e);
    }
  }

  /**
   * Handles a rejection by the executor: changes of callers fail, and changes of the engine wait.
   */
  private void refused(Throwable refusal) {
    List<PendingChange> refusedCalls;
    boolean first;
    synchronized (this) {
      refusedCalls = queue.takeCallers();
      notifyAll();
      first = !refused;
      refused = true;
    }
    giveUp(refusedCalls, new IllegalStateException("the store's executor refuses to run", refusal));
    if (first && !closed) {
      LOG.log(System.Logger.Level.WARNING, "the store's executor refuses to run", refusal);
      try {
        settings.delays.start(this::askAgain, Duration.ofMillis(REFUSED_WAIT_MILLIS));
      } catch (IllegalStateException e) {
        LOG.log(System.Logger.Level.DEBUG, "stopped while the executor refused to run", e);
      }
    }
  }

  private void askAgain() {
    synchronized (this) {
      refused = false;
    }
    drainIfReady();
  }

  /** Commits one batch and continues in a new task, so that other work gets its turn. */
  private void drain() {
    boolean start;
    List<PendingChange> batch = List.of();
    BatchCommit commit = new BatchCommit(settings.store, settings.listener.get(), this::answer);
    try {
      batch = take();
      commit.commit(batch);
    } finally {
      try {
        repeat(commit);
      } finally {
        synchronized (this) {
          drainSinceNanos = null;
          queue.answered(
              batch); // even after an exception, because later changes of its timers wait
          start = startDraining();
        }
        if (start) {
          execute();
        }
      }
    }
  }

  private List<PendingChange> take() {
    List<PendingChange> batch;
    List<PendingChange> noRoom;
    synchronized (this) {
      refused = false;
      batch = queue.takeBatch(settings.store.traits().maxBatch(), settings.delays.nanoTime());
      noRoom = queue.takeRefused();
      notifyAll();
    }
    failWithoutRoom(noRoom);
    return batch;
  }

  private static void failWithoutRoom(List<PendingChange> items) {
    for (PendingChange item : items) {
      item.fail(
          Reason.BUSY,
          "another transaction holds this timer, and too many calls wait for held timers",
          null);
    }
  }

  private void answer(List<PendingChange> batch, List<Outcome> outcomes) {
    settings.listener.get().answered();
    passToEngine(batch, outcomes);
    complete(batch, outcomes, false);
  }

  /**
   * Passes the outcomes of the engine's changes to another thread. That work is as expensive as the
   * commit, so it runs in parallel with the answers to callers and with the next commit.
   */
  private void passToEngine(List<PendingChange> batch, List<Outcome> outcomes) {
    if (batch.stream().noneMatch(PendingChange::isOwn)) {
      return;
    }
    synchronized (this) {
      processing++;
    }
    Runnable work =
        () -> {
          complete(batch, outcomes, true);
          engineProcessed();
        };
    try {
      settings.tasks.execute(settings.ownExecutor, work);
    } catch (RuntimeException | Error e) { // closed, or no thread is available
      work.run();
    }
  }

  private synchronized void engineProcessed() {
    processing--;
  }

  private void complete(List<PendingChange> batch, List<Outcome> outcomes, boolean own) {
    for (int i = 0; i < batch.size(); i++) {
      if (batch.get(i).isOwn() == own) {
        batch.get(i).complete(outcomes.get(i), settings.listener.get());
      }
    }
  }

  // Changes to repeat

  private void repeat(BatchCommit commit) {
    for (FailedChanges failed : commit.failed()) {
      repeatAfterWait(failed);
    }
    HeldTimersException failure = commit.heldFailure();
    if (failure != null) {
      repeatHeld(commit.held(), failure);
    }
  }

  private void repeatHeld(List<PendingChange> tried, HeldTimersException failure) {
    Set<TimerKey> keys = HeldChanges.keys(tried);
    long nowNanos = settings.delays.nanoTime();
    List<PendingChange> noRoom = List.of();
    List<PendingChange> tooLong = List.of();
    boolean open;
    Map<Long, Set<TimerKey>> delays = Map.of();
    synchronized (this) {
      open = !closed;
      if (open) {
        queue.hold(tried, nowNanos);
        noRoom = queue.takeRefused();
        tooLong = queue.takeHeldTooLong(keys, nowNanos);
        delays = queue.startWaits(keys);
        notifyAll();
      }
    }
    failWithoutRoom(noRoom);
    for (PendingChange item : tooLong) {
      item.fail(
          Reason.BUSY,
          "another transaction has held this timer for longer than " + PendingChange.HELD_LIMIT,
          failure);
    }
    if (!open) {
      giveUp(tried.stream().filter(item -> !item.isOwn()).toList(), Committer.closed());
    } else {
      try {
        delays.forEach(
            (millis, waiting) ->
                settings.delays.start(() -> makeDue(waiting), Duration.ofMillis(millis)));
      } catch (IllegalStateException e) { // the wheel was stopped, so no retry can be timed
        List<PendingChange> left;
        synchronized (this) {
          left = queue.takeHeld();
        }
        giveUp(left, failure);
      }
    }
  }

  private void makeDue(Set<TimerKey> keys) {
    synchronized (this) {
      queue.makeDue(keys);
    }
    drainIfReady();
  }

  private void repeatAfterWait(FailedChanges again) {
    boolean open;
    synchronized (this) {
      open = !closed;
      if (open) {
        queue.putAside(again);
      }
    }
    if (!open) {
      giveUp(again.changes.stream().filter(item -> !item.isOwn()).toList(), Committer.closed());
      return;
    }
    try {
      settings.delays.start(() -> makeDue(again), Duration.ofMillis(again.waitMillis()));
    } catch (IllegalStateException e) { // the wheel was stopped, so no retry can be timed
      boolean waits;
      synchronized (this) {
        waits = queue.remove(again); // false if the stop made them due for their last try
      }
      if (waits) {
        giveUp(again.changes, again.failure);
      }
    }
  }

  private void makeDue(FailedChanges again) {
    synchronized (this) {
      queue.makeDue(again);
    }
    drainIfReady();
  }

  /** Makes all waiting changes due for their last try. */
  void makeDue() {
    synchronized (this) {
      refused = false;
      queue.makeDue();
      queue.releaseNonUrgent();
    }
    drainIfReady();
  }
}
