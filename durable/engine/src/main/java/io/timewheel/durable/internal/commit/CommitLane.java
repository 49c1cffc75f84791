// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.health.Events;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.HeldTimersException;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Commits the waiting changes of some of the keys, one batch at a time.
 *
 * <p>A batch that the store rejects is committed again in halves, at once and in order, until the
 * rejected change is alone. A batch with an unknown outcome is also repeated in halves, separately
 * and after a wait. So a change that the store rejects affects no other change. {@link Committer}
 * describes which changes with an unknown outcome are repeated.
 *
 * <p>Such a wait does not delay later changes of the same timer: they may be committed before the
 * repeated change. Otherwise a change of the engine that fails each time would block its timer, and
 * callers could not cancel it.
 *
 * <p>Changes of held timers, which other transactions have locked, are removed from a batch, and
 * the others are committed at once. The removed changes are repeated after a wait, in the order of
 * each timer. Those of callers fail after {@link PendingChange#HELD_LIMIT}.
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
  private int telling;

  /** True if the executor has rejected the task. A caller or a timer submits it again. */
  private boolean refused;

  /**
   * The changes of timers that the present drain found held, in commit order. Only the draining
   * task uses them.
   */
  private final List<PendingChange> foundHeld = new ArrayList<>();

  /** The latest reason of {@link #foundHeld}; null if there are none. */
  private @Nullable HeldTimersException heldFailure;

  private volatile boolean refusing;
  private volatile boolean closed;

  /** The settings of all lanes of a store. The engine processes outcomes on {@code ownExecutor}. */
  public record Settings(
      TimerStore store,
      Delays delays,
      StoreTasks tasks,
      EngineClock clock,
      Committer.Listener listener,
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
    return drainSinceNanos == null && telling == 0 && queue.isEmpty();
  }

  /**
   * Returns whether the engine has not yet processed the outcome of a committed change of its own.
   */
  synchronized boolean isTelling() {
    return telling > 0;
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
    List<PendingChange> told;
    boolean first;
    synchronized (this) {
      told = queue.takeCallers();
      notifyAll();
      first = !refused;
      refused = true;
    }
    giveUp(told, new IllegalStateException("the store's executor refuses to run", refusal));
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
    try {
      batch = take();
      try {
        commit(batch);
      } finally {
        repeatWhenReleased();
      }
    } finally {
      synchronized (this) {
        drainSinceNanos = null;
        queue.answered(batch); // even after an exception, because later changes of its timers wait
        start = startDraining();
      }
      if (start) {
        execute();
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

  private void commit(List<PendingChange> changes) {
    List<PendingChange> batch = withoutHeld(changes);
    if (batch.isEmpty()) {
      return;
    }
    List<Outcome> outcomes;
    Object event = Events.commitBegins();
    try {
      outcomes = outcomes(batch.stream().map(item -> item.change).toList());
      Events.commitEnded(event, batch.size(), null);
    } catch (HeldTimersException e) {
      Events.commitEnded(event, batch.size(), e);
      held(batch, e);
      return;
    } catch (StoreException e) {
      Events.commitEnded(event, batch.size(), e);
      failed(batch, e);
      return;
    } catch (RuntimeException | Error e) {
      Events.commitEnded(event, batch.size(), e);
      String text = "the store threw " + textOf(e);
      failed(batch, new StoreException(StoreException.Kind.UNKNOWN, text, e));
      return;
    }
    settings.listener.answered();
    tellEngine(batch, outcomes);
    complete(batch, outcomes, false);
  }

  /**
   * Returns the text of an exception, or its class if it fails to return a text, because the batch
   * must be answered.
   */
  private static String textOf(Throwable thrown) {
    try {
      return thrown.toString();
    } catch (RuntimeException | Error e) {
      return thrown.getClass().getName();
    }
  }

  /**
   * Passes the outcomes to callers, then to the engine. The engine's work is as expensive as the
   * commit, so it runs in parallel with the next one. Callers come first, so that their next
   * changes are part of that commit.
   */
  private void tellEngine(List<PendingChange> batch, List<Outcome> outcomes) {
    if (batch.stream().noneMatch(PendingChange::isOwn)) {
      return;
    }
    synchronized (this) {
      telling++;
    }
    Runnable work =
        () -> {
          complete(batch, outcomes, true);
          toldEngine();
        };
    try {
      settings.tasks.execute(settings.ownExecutor, work);
    } catch (RuntimeException | Error e) { // closed, or no thread is available
      work.run();
    }
  }

  private synchronized void toldEngine() {
    telling--;
  }

  private void complete(List<PendingChange> batch, List<Outcome> outcomes, boolean own) {
    for (int i = 0; i < batch.size(); i++) {
      if (batch.get(i).isOwn() == own) {
        batch.get(i).complete(outcomes.get(i), settings.listener);
      }
    }
  }

  private List<Outcome> outcomes(List<Change> changes) {
    List<Outcome> outcomes = List.copyOf(settings.store.commit(changes));
    if (outcomes.size() != changes.size()) {
      throw new IllegalStateException(
          outcomes.size() + " outcomes (expected: " + changes.size() + ")");
    }
    return outcomes;
  }

  // Held timers

  /**
   * Returns the changes of a part of a batch, except those of timers that an earlier part found
   * held. These wait behind the earlier changes of their timers.
   */
  private List<PendingChange> withoutHeld(List<PendingChange> changes) {
    if (foundHeld.isEmpty()) {
      return changes;
    }
    Set<TimerKey> keys = HeldChanges.keys(foundHeld);
    List<PendingChange> others = new ArrayList<>();
    for (PendingChange item : changes) {
      (keys.contains(item.change.key()) ? foundHeld : others).add(item);
    }
    return others;
  }

  /**
   * Commits the changes of all other timers at once. Those of held timers are repeated after a
   * wait, which begins when the whole batch was tried.
   */
  private void held(List<PendingChange> batch, HeldTimersException failure) {
    Map<Boolean, List<PendingChange>> parts =
        batch.stream()
            .collect(
                Collectors.partitioningBy(item -> failure.heldKeys().contains(item.change.key())));
    List<PendingChange> tried = requireNonNull(parts.get(true));
    if (tried.isEmpty()) {
      failed(batch, failure);
      return;
    }
    foundHeld.addAll(tried);
    heldFailure = failure;
    commit(requireNonNull(parts.get(false)));
  }

  private void repeatWhenReleased() {
    HeldTimersException failure = heldFailure;
    if (failure == null) {
      return;
    }
    List<PendingChange> tried = List.copyOf(foundHeld);
    foundHeld.clear();
    heldFailure = null;
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

  // Failures

  private void failed(List<PendingChange> batch, StoreException failure) {
    if (failure.kind() == StoreException.Kind.REJECTED && batch.size() > 1) {
      commit(List.copyOf(batch.subList(0, batch.size() / 2)));
      commit(List.copyOf(batch.subList(batch.size() / 2, batch.size())));
      return;
    }
    if (failure.kind() != StoreException.Kind.REJECTED) {
      settings.listener.failed(batch.size(), failure);
    }
    boolean unknown = failure.kind() == StoreException.Kind.UNKNOWN;
    List<PendingChange> again = new ArrayList<>();
    for (PendingChange item : batch) {
      if (unknown) {
        item.becomesUnknown();
        settings.listener.unknown(item.change, item.isOwn());
      }
      if (item.isRepeatedAfter(failure.kind())) {
        again.add(item);
      } else {
        if (item.isOwn()) {
          settings.listener.rejected(item.change, failure);
        }
        item.fail(failure.reason(), failure);
      }
    }
    // Halved until the failing change is alone, because the others must not wait for it.
    int half = unknown ? again.size() / 2 : 0;
    if (half > 0) {
      again.stream().filter(PendingChange::isOwn).forEach(PendingChange::resetTries); // and soon
    }
    repeatLater(new FailedChanges(List.copyOf(again.subList(0, half)), unknown), failure);
    repeatLater(
        new FailedChanges(List.copyOf(again.subList(half, again.size())), unknown), failure);
  }

  private void repeatLater(FailedChanges again, StoreException failure) {
    if (again.changes.isEmpty()) {
      return;
    }
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
        giveUp(again.changes, failure);
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
