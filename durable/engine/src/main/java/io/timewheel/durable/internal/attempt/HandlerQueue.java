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
 * What is due for one handler: entries that wait for a place, attempts that are being claimed, and
 * attempts that run. Twice its limit are claimed at a time, so that a place does not wait for the
 * store; no more than the limit run. The next are claimed when a quarter of them has ended: by one
 * commit, where each for itself would have one of its own.
 */
public final class HandlerQueue {
  private static final System.Logger LOG = GuardedLog.LOG;

  private static final long FIRST_REFUSED_WAIT_MILLIS = 10;
  private static final long LONGEST_REFUSED_WAIT_MILLIS = 1_000;

  /** What comes later than this is not waited for in a place of the handler. */
  private static final long MAX_EARLY_MILLIS = 1_000;

  private final AttemptContext context;
  private final Config config;
  private final Executor executor;
  private final Slots slots;
  private final Runnable onUnused;
  private final DueQueue waiting = new DueQueue();
  private final ArrayDeque<AttemptRun> claimed = new ArrayDeque<>();

  /** Attempts that are claimed ahead of their time. */
  private final Set<AttemptRun> early = new HashSet<>();

  private final Set<AttemptRun> running = new HashSet<>();
  private int claims;

  /** Slots that were acquired for this queue and are not used by a claim yet. */
  private int granted;

  /** How many of the claims are leased, or are slots reserved for that. */
  private int leased;

  /** Whether to claim until there are twice as many as the limit. */
  private boolean filling = true;

  private boolean closed;

  /** Whether the handlers' executor has refused an attempt, and a new try waits for its time. */
  private boolean refused;

  private long refusedWaitMillis = FIRST_REFUSED_WAIT_MILLIS;

  /** How a handler is run. */
  public record Config(String name, Handler handler, int limit, @Nullable Duration timeLimit) {
    Config withName(String other) {
      return new Config(other, handler, limit, timeLimit);
    }
  }

  /** Slots beyond the limit of a queue, which it shares with others: one for each claim. */
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
            // There is nothing to share.
          }
        };

    /** {@return whether the queue has one slot more; called with its lock} */
    boolean acquire();

    /** Gives slots back, which may go to other queues; called without a lock. */
    void release(int count);
  }

  /** Makes handlers. */
  @FunctionalInterface
  public interface Factory {
    /**
     * Makes a queue.
     *
     * @param onUnused is called, without a lock, when nothing is due there or under way
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
  }

  /** An entry that is due, to be claimed by {@link #claimMore}. */
  synchronized void offer(DueEntry entry) {
    if (!closed) {
      waiting.add(entry);
    }
  }

  /** Claims what there is room for. Never blocks. */
  void claimMore() {
    for (DueEntry entry = next(); entry != null; entry = next()) {
      boolean begun = false;
      try {
        begun = entry.begin();
      } catch (RuntimeException | Error e) {
        offer(entry);
        throw e;
      } finally {
        if (!begun) {
          release();
        }
      }
      if (begun) {
        claim(entry);
      }
    }
    releaseGranted();
    if (isUnused()) {
      onUnused.run();
    }
  }

  private synchronized @Nullable DueEntry next() {
    filling &= claims < 2L * config.limit();
    filling |= claims <= config.limit() + config.limit() / 2;
    if (closed || !filling || waiting.isEmpty()) {
      return null;
    }
    if (granted == 0) {
      granted += slots.acquire() ? 1 : 0;
    }
    DueEntry entry = granted == 0 ? null : waiting.poll();
    if (entry != null) {
      claims++;
      granted--;
    }
    return entry;
  }

  /** Gives a place back. */
  private void release() {
    synchronized (this) {
      claims--;
    }
    slots.release(1);
  }

  /** Takes a slot that was acquired for this queue. */
  synchronized void grant() {
    granted++;
  }

  /** Claims with the slots that were granted, here or for a lease. */
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
   * Reserves slots for timers that are to be leased: those that are free, and a quarter of the
   * limit in any case, so that timers of this node's own shards never take all of them.
   *
   * @return how many slots; 0 if none is free
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

  /** Frees reserved slots for which nothing was leased. */
  void release(int unused) {
    synchronized (this) {
      claims -= unused;
      leased -= unused;
    }
    slots.release(unused);
    claimMore();
  }

  /** Takes an attempt that was leased, for a reserved slot. */
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

  /** Claims an attempt, for whose run so many were dropped. */
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

  /** Has an attempt that was claimed begin, at its time. */
  private void begin(AttemptRun run, TimerRecord record, long atMillis) {
    try {
      beginOrGiveBack(run, record, atMillis);
    } catch (RuntimeException | Error e) {
      if (!holds(run)) { // or it goes on: its place must not be lost
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
    if (record.cancelRequested() || record.paused()) { // before its claim was answered
      run.giveBack(context.nowMillis());
    } else if (earlyMillis > context.claimAheadMillis() + MAX_EARLY_MILLIS) { // the clock went back
      run.giveBack(atMillis);
    } else if (earlyMillis > 0) { // it was claimed ahead, here or by an owner that is gone
      readyLater(run, earlyMillis);
    } else {
      ready(run);
    }
  }

  // Runs

  private void readyLater(AttemptRun run, long waitMillis) {
    synchronized (this) {
      early.add(run);
    }
    try {
      context.delays().start(() -> readyUnlessGivenBack(run), Duration.ofMillis(waitMillis));
    } catch (IllegalStateException e) { // the wheel was stopped
      if (removeEarly(run)) {
        throw e;
      }
    }
  }

  private void readyUnlessGivenBack(AttemptRun run) {
    if (removeEarly(run)) {
      ready(run);
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
      giveBack(other -> other == run); // nobody else will: the queue may be full until the end
    }
    runMore();
  }

  private void runMore() {
    for (AttemptRun run = nextRun(); run != null; run = nextRun()) {
      try {
        run.handOver(executor);
      } catch (RuntimeException | Error e) { // rejected, or there is no thread to be had
        if (run.take()) {
          tryAgainLater(run, e);
        }
      }
    }
  }

  /** A claimed attempt stays so: an executor that is full for a moment costs no commit. */
  private void tryAgainLater(AttemptRun run, Throwable why) {
    long waitMillis;
    synchronized (this) {
      running.remove(run);
      claimed.addFirst(run);
      refused = true;
      waitMillis = refusedWaitMillis;
      refusedWaitMillis = Math.min(LONGEST_REFUSED_WAIT_MILLIS, 2 * waitMillis);
    }
    context.delays().start(this::tryAgain, Duration.ofMillis(waitMillis)); // before a log may throw
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

  /** A thread has taken an attempt. {@return whether the attempt begins; if not, it goes back} */
  synchronized boolean begins(AttemptRun run) {
    refusedWaitMillis = FIRST_REFUSED_WAIT_MILLIS;
    return !closed && run.begin();
  }

  /** {@return how many of some attempts have begun, and have not ended} */
  synchronized int begun(Predicate<AttemptRun> which) {
    return (int) running.stream().filter(which).filter(AttemptRun::hasBegun).count();
  }

  private synchronized @Nullable AttemptRun nextRun() {
    if (refused || running.size() >= config.limit()) {
      return null;
    }
    AttemptRun run = claimed.poll();
    if (run != null) {
      running.add(run);
    }
    return run;
  }

  /** Its end is on the way to the store: the place is free, whether it is recorded yet or not. */
  void ended(AttemptRun run) {
    synchronized (this) {
      running.remove(run);
      claims--;
      leased -= run.isLeased() ? 1 : 0;
    }
    runMore();
    slots.release(1);
    context.onFreed().accept(run.handler());
    claimMore();
  }

  /** Runs user code that no attempt waits for; in a while, if there is no thread to be had. */
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
      // The wheel was stopped: as good as closed.
    }
  }

  /**
   * Says which attempts no thread begins: an executor that drops tasks tells nobody. Ends those
   * that have ended on a stack that was full.
   */
  void upkeep() {
    List<AttemptRun> now;
    synchronized (this) {
      now = List.copyOf(running);
      waiting.sweep();
    }
    if (isUnused()) {
      onUnused.run();
    }
    long nowMillis = context.nowMillis();
    long forgotten = now.stream().filter(run -> run.isForgotten(nowMillis)).count();
    now.forEach(AttemptRun::look);
    if (forgotten > 0) {
      LOG.log(
          System.Logger.Level.WARNING,
          "{0} attempts of the handler {1} have waited for a thread for over a minute: is the"
              + " executor full, or does it drop tasks?",
          forgotten,
          config.name());
    }
  }

  // The end

  /** Lets nothing begin; gives back claimed attempts that have not begun. */
  void close() {
    synchronized (this) {
      closed = true;
      waiting.clear();
    }
    giveBack(run -> true);
  }

  /**
   * Gives back claimed attempts that have not begun; they do not count. Attempts that an executor
   * has go back when one of its threads takes them.
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

  /** Whether nothing is due here, and nothing under way. */
  synchronized boolean isUnused() {
    return claims == 0 && granted == 0 && waiting.isEmpty();
  }

  /** Whether an attempt is in its handler on a thread. */
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

  /** The patience of a close is over. */
  void interrupt() {
    List<AttemptRun> left;
    synchronized (this) {
      left = List.copyOf(running);
    }
    left.forEach(AttemptRun::interrupt);
  }
}
