// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.internal.due.ClaimHolder;
import io.timewheel.durable.internal.due.DueEntry;
import io.timewheel.durable.internal.due.DueQueue;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.model.Handler;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.FinishingHandler;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The due timers of one handler: entries that wait for a concurrency slot, attempts that are being
 * claimed, and running attempts. At most the limit of attempts runs at a time. Up to twice the
 * limit are claimed, so that a free slot does not wait for the store. The queue claims again when a
 * quarter of the attempts has ended, so that one commit claims many.
 */
public final class HandlerQueue {
  private static final System.Logger LOG = GuardedLog.LOG;

  private static final long FIRST_REFUSED_WAIT_MILLIS = 10;
  private static final long LONGEST_REFUSED_WAIT_MILLIS = 1_000;

  /**
   * The longest time for which an early attempt occupies a concurrency slot. An attempt that is
   * earlier than this is given back.
   */
  private static final long MAX_EARLY_MILLIS = 1_000;

  private final AttemptContext context;
  private final Config config;
  private final Executor executor;
  private final Slots slots;
  private final Runnable onUnused;
  private final DueQueue waiting = new DueQueue();
  private final ArrayDeque<AttemptRun> claimed = new ArrayDeque<>();

  /** The attempts that are claimed ahead of their time. */
  private final Set<AttemptRun> early = new HashSet<>();

  private final Set<AttemptRun> running = new HashSet<>();
  private int claims;

  /** The largest number of attempts in one task. */
  private final int maxBatch;

  /** The number of running calls of a finishing handler. */
  private int calls;

  /** The number of shared slots that this queue has acquired and not yet used for a claim. */
  private int granted;

  /** The number of leased claims and of slots that are reserved for leases. */
  private int leased;

  /** True while the queue claims until it has twice the limit. */
  private boolean filling = true;

  private boolean closed;

  /** True if the executor of handlers has rejected an attempt and a retry is timed. */
  private boolean refused;

  private long refusedWaitMillis = FIRST_REFUSED_WAIT_MILLIS;

  /** The settings of a handler. */
  public record Config(String name, Handler handler, int limit, @Nullable Duration timeLimit) {
    Config withName(String other) {
      return new Config(other, handler, limit, timeLimit);
    }
  }

  /** Slots that a queue shares with others in addition to its own limit: one for each claim. */
  public interface Slots {
    /** The slots of a queue that shares none. */
    Slots OWN =
        new Slots() {
          @Override
          public boolean acquire() {
            return true;
          }

          @Override
          public void release(int count) {
            // No slots are shared.
          }
        };

    /** {@return whether the queue got another slot; called under its lock} */
    boolean acquire();

    /** Gives slots back, which may go to other queues. Called without a lock. */
    void release(int count);
  }

  /** Creates the queues of handlers. */
  @FunctionalInterface
  public interface Factory {
    /**
     * Creates a queue.
     *
     * @param onUnused called without a lock when the queue has no due timers and no attempts
     */
    HandlerQueue create(Config config, Slots slots, Runnable onUnused);
  }

  public HandlerQueue(
      AttemptContext context, Config config, Executor executor, Slots slots, Runnable onUnused) {
    this.context = context;
    this.config = config;
    this.executor = executor;
    this.slots = slots;
    this.onUnused = onUnused;
    maxBatch = config.handler() instanceof FinishingHandler finishing ? finishing.maxBatch() : 1;
  }

  /** Adds a due entry, which {@link #claimMore} claims. */
  synchronized void offer(DueEntry entry) {
    if (!closed) {
      waiting.add(entry);
    }
  }

  /** Claims as many entries as there are free slots. Never blocks. */
  void claimMore() {
    while (acquire()) {
      DueEntry entry = null;
      try {
        entry = waiting.take();
      } finally {
        if (entry == null) {
          release();
        }
      }
      if (entry != null) {
        claim(entry);
      }
    }
    releaseGranted();
    if (isUnused()) {
      onUnused.run();
    }
  }

  private synchronized boolean acquire() {
    filling &= claims < 2L * config.limit();
    filling |= claims <= config.limit() + config.limit() / 2;
    if (closed || !filling || waiting.isEmpty() || (granted == 0 && !slots.acquire())) {
      return false;
    }
    granted -= granted > 0 ? 1 : 0;
    claims++;
    return true;
  }

  /** Frees a slot. */
  private void release() {
    synchronized (this) {
      claims--;
    }
    slots.release(1);
  }

  /** Accepts a slot that was acquired for this queue. */
  synchronized void grant() {
    granted++;
  }

  /** Uses the granted slots for claims, and offers the others for leases. */
  void useGranted() {
    claimMore();
    context.onFreed().accept(config.name());
  }

  private void releaseGranted() {
    int unused;
    synchronized (this) {
      unused = granted;
      granted = 0;
    }
    if (unused > 0) {
      slots.release(unused);
    }
  }

  // Leases

  /**
   * Reserves slots for timers that will be leased: the free slots, and always a quarter of the
   * limit. So timers of this node's own shards never take all slots.
   *
   * @return the number of reserved slots; 0 if none is free
   */
  synchronized int reserve(int most) {
    int quarter = (config.limit() + 3) / 4;
    int room = Math.max(config.limit() - claims, quarter - leased);
    int wanted = closed ? 0 : Math.max(0, Math.min(most, room));
    int acquired = 0;
    while (acquired < wanted && slots.acquire()) {
      acquired++;
    }
    claims += acquired;
    leased += acquired;
    return acquired;
  }

  /** Frees reserved slots for which no timer was leased. */
  void release(int unused) {
    synchronized (this) {
      claims -= unused;
      leased -= unused;
    }
    slots.release(unused);
    claimMore();
  }

  /** Adds a leased attempt, for a reserved slot. */
  void leased(TimerRecord record, ClaimHolder holder, long pausesBefore) {
    AttemptRun run = new AttemptRun(context, this, config, holder, record, pausesBefore);
    begin(run, record, context.nowMillis());
  }

  // Claims

  private void claim(DueEntry entry) {
    context
        .missed()
        .decide(
            entry,
            (scheduledAt, dropped) -> claim(entry, scheduledAt, dropped),
            () -> {
              release();
              claimMore();
            });
  }

  /** Claims an attempt. */
  private void claim(DueEntry entry, long scheduledAt, long dropped) {
    Change.Begin begin = entry.claim(scheduledAt, context.nowMillis());
    long pausesBefore = context.pauseGate().pauses();
    context
        .committer()
        .submitOwn(
            begin,
            entry.due.fireAt(),
            outcome -> {
              if (claimed(entry, begin, pausesBefore, outcome)) {
                context.health().dropped(entry.due.key(), dropped);
              }
            });
  }

  private boolean claimed(
      DueEntry entry, Change.Begin begin, long pausesBefore, @Nullable Outcome outcome) {
    TimerRecord record = outcome == null ? null : outcome.record();
    Claim claim = record == null ? null : record.claim();
    boolean mine =
        outcome != null
            && outcome.answer() == Outcome.Answer.APPLIED
            && claim != null
            && claim.token().equals(begin.token());
    if (!mine || record == null) {
      release();
      entry.shard().answered(entry.due.key(), outcome);
      claimMore();
      return false;
    }
    if (entry.due.state() == TimerState.RUNNING) {
      context.health().counters.lost.increment();
    }
    AttemptRun run = new AttemptRun(context, this, config, entry.shard(), record, pausesBefore);
    begin(run, record, entry.due.fireAt());
    return true;
  }

  private synchronized boolean holds(AttemptRun run) {
    return early.contains(run) || claimed.contains(run) || running.contains(run);
  }

  /** Starts a claimed attempt when it is due. */
  private void begin(AttemptRun run, TimerRecord record, long atMillis) {
    try {
      beginOrGiveBack(run, record, atMillis);
    } catch (RuntimeException | Error e) {
      if (!holds(run)) { // if it is still held, it continues with its slot
        LOG.log(System.Logger.Level.ERROR, "after the claim of " + record.key(), e);
        run.giveBack(atMillis);
      }
      throw e;
    }
  }

  private void beginOrGiveBack(AttemptRun run, TimerRecord record, long atMillis) {
    if (run.isExhausted()) {
      run.recordLoss();
      return;
    }
    long earlyMillis = atMillis - context.nowMillis();
    if (record.cancelRequested() || record.paused()) { // after its claim was sent
      run.giveBack(context.nowMillis());
    } else if (earlyMillis > context.claimAheadMillis() + MAX_EARLY_MILLIS) { // clock was set back
      run.giveBack(atMillis);
    } else if (earlyMillis > 0) { // it was claimed ahead, here or by a former owner
      readyLater(run, record, atMillis, earlyMillis);
    } else {
      ready(run);
    }
  }

  // Runs

  private void readyLater(AttemptRun run, TimerRecord record, long atMillis, long waitMillis) {
    synchronized (this) {
      early.add(run);
    }
    try {
      context
          .delays()
          .start(() -> beginUnlessGivenBack(run, record, atMillis), Duration.ofMillis(waitMillis));
    } catch (IllegalStateException e) { // the wheel was stopped
      if (removeEarly(run)) {
        throw e;
      }
    }
  }

  /** Begins an attempt after its wait, unless the clock has gone back meanwhile. */
  private void beginUnlessGivenBack(AttemptRun run, TimerRecord record, long atMillis) {
    if (removeEarly(run)) {
      begin(run, record, atMillis);
    }
  }

  private synchronized boolean removeEarly(AttemptRun run) {
    return early.remove(run);
  }

  private void ready(AttemptRun run) {
    synchronized (this) {
      claimed.add(run);
    }
    if (isClosed() || run.isHolderClosed()) {
      giveBack(other -> other == run); // here, because a full queue may start no other thread
    }
    runMore();
  }

  private void runMore() {
    for (AttemptTask task = nextTask(); task != null; task = nextTask()) {
      try {
        task.handOver(executor);
      } catch (RuntimeException | Error e) { // rejected, or no thread is available
        List<AttemptRun> back = task.takeBack();
        if (!back.isEmpty()) {
          tryAgainLater(task, back, e);
        }
      }
    }
  }

  /** Submits attempts again later. They stay claimed, so that a full executor causes no commit. */
  private void tryAgainLater(AttemptTask task, List<AttemptRun> back, Throwable why) {
    long waitMillis;
    synchronized (this) {
      calls -= task instanceof FinishingCall ? 1 : 0;
      for (int i = back.size() - 1; i >= 0; i--) {
        running.remove(back.get(i));
        claimed.addFirst(back.get(i));
      }
      refused = true;
      waitMillis = refusedWaitMillis;
      refusedWaitMillis = Math.min(LONGEST_REFUSED_WAIT_MILLIS, 2 * waitMillis);
    }
    context.delays().start(this::tryAgain, Duration.ofMillis(waitMillis)); // before the log throws
    if (waitMillis == FIRST_REFUSED_WAIT_MILLIS) {
      LOG.log(
          System.Logger.Level.WARNING,
          "the executor refuses attempts of the handler " + config.name() + "; they wait",
          why);
    }
  }

  private void tryAgain() {
    synchronized (this) {
      refused = false;
    }
    runMore();
  }

  /**
   * Decides whether an attempt that a thread has taken from the executor begins. Returns false if
   * it is given back.
   */
  synchronized boolean begins(AttemptRun run) {
    refusedWaitMillis = FIRST_REFUSED_WAIT_MILLIS;
    return !closed && run.begin();
  }

  /** Takes the attempts of one task: one, or those of one call of a finishing handler. */
  private synchronized @Nullable AttemptTask nextTask() {
    if (refused || (maxBatch > 1 && calls >= FinishingHandler.MAX_CALLS)) {
      return null;
    }
    int room = Math.min(maxBatch, config.limit() - running.size());
    List<AttemptRun> runs = new ArrayList<>();
    while (runs.size() < room && !claimed.isEmpty()) {
      runs.add(claimed.remove());
    }
    if (runs.isEmpty()) {
      return null;
    }
    running.addAll(runs);
    if (config.handler() instanceof FinishingHandler finishing) {
      calls++;
      return new FinishingCall(this, finishing, runs);
    }
    return runs.get(0);
  }

  /**
   * Frees the slot of an attempt. Its outcome has been passed to the committer, and may not be
   * committed yet.
   */
  void ended(AttemptRun run) {
    ended(List.of(run), 0);
  }

  /** Ends a call of a finishing handler, and frees the slots of its attempts. */
  void callEnded(List<AttemptRun> runs) {
    ended(runs, 1);
  }

  private void ended(List<AttemptRun> runs, int endedCalls) {
    synchronized (this) {
      calls -= endedCalls;
      claims -= runs.size();
      for (AttemptRun run : runs) {
        running.remove(run);
        leased -= run.isLeased() ? 1 : 0;
      }
    }
    runMore();
    slots.release(runs.size());
    context.onFreed().accept(config.name());
    claimMore();
  }

  /**
   * Runs code of the application, such as listeners, outside an attempt. If no thread is available,
   * the code runs later.
   */
  void execute(Runnable userCode) {
    try {
      executor.execute(userCode);
    } catch (RuntimeException | Error e) {
      if (!isClosed()) {
        executeLater(userCode);
      }
    }
  }

  private void executeLater(Runnable userCode) {
    try {
      Duration wait = Duration.ofMillis(LONGEST_REFUSED_WAIT_MILLIS);
      context.delays().start(() -> execute(userCode), wait);
    } catch (IllegalStateException e) {
      // The wheel was stopped, which is like a close.
    }
  }

  /**
   * Logs attempts that no thread has begun, because an executor may drop tasks silently. Ends
   * attempts whose completion was lost to a stack overflow. Claims entries for which the shared
   * slots threw.
   */
  void maintain() {
    List<AttemptRun> now;
    synchronized (this) {
      now = List.copyOf(running);
      waiting.sweep();
    }
    long nowMillis = context.nowMillis();
    long dropped = now.stream().filter(run -> run.mayBeDropped(nowMillis)).count();
    now.forEach(AttemptRun::look);
    if (dropped > 0) {
      LOG.log(
          System.Logger.Level.WARNING,
          "{0} attempts of the handler {1} have waited for a thread for over a minute: is the"
              + " executor full, or does it drop tasks?",
          dropped,
          config.name());
    }
    claimMore();
  }

  // Close

  /** Starts no further attempts, and gives back claimed attempts that have not begun. */
  void close() {
    synchronized (this) {
      closed = true;
      waiting.clear();
    }
    giveBack(run -> true);
  }

  /**
   * Gives back claimed attempts that have not begun; they do not count. An attempt that was
   * submitted to an executor is given back when a thread takes it.
   */
  public void giveBack(Predicate<AttemptRun> which) {
    List<AttemptRun> back = new ArrayList<>();
    synchronized (this) {
      claimed.stream().filter(which).forEach(back::add);
      early.stream().filter(which).forEach(back::add);
      claimed.removeAll(back);
      early.removeAll(back);
      running.stream().filter(which).forEach(AttemptRun::stop);
    }
    back.forEach(run -> run.giveBack(context.nowMillis()));
  }

  synchronized int waiting() {
    return waiting.size();
  }

  synchronized int running() {
    return running.size();
  }

  synchronized boolean isIdle() {
    return claims == 0;
  }

  /** Returns whether the queue has no due timers and no attempts. */
  synchronized boolean isUnused() {
    return claims == 0 && granted == 0 && waiting.isEmpty();
  }

  /** Returns whether a thread runs a handler of this queue. */
  boolean isRunBy(Thread thread) {
    List<AttemptRun> now;
    synchronized (this) {
      now = List.copyOf(running);
    }
    return now.stream().anyMatch(run -> run.isOn(thread));
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /** Interrupts the running attempts after the shutdown timeout. */
  void interrupt() {
    List<AttemptRun> left;
    synchronized (this) {
      left = List.copyOf(running);
    }
    left.forEach(AttemptRun::interrupt);
  }
}
