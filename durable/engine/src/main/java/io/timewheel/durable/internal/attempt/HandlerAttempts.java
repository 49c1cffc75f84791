// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.spi.FinishingHandler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Predicate;

/**
 * The claimed attempts of one handler: those that wait for their time, those that wait for a
 * thread, and running ones. At most the limit of attempts runs at a time.
 */
final class HandlerAttempts {
  private static final System.Logger LOG = GuardedLog.LOG;

  private static final long FIRST_REFUSED_WAIT_MILLIS = 10;
  private static final long LONGEST_REFUSED_WAIT_MILLIS = 1_000;

  /**
   * The longest time for which an early attempt occupies a concurrency slot, in addition to that by
   * which it is claimed ahead. An attempt that is earlier is given back: the clock was set back.
   */
  private static final long MAX_EARLY_MILLIS = 1_000;

  private final AttemptContext context;
  private final HandlerQueue.Config config;
  private final Executor executor;
  private final SlotBudget slots;
  private final Runnable onFreed;
  private final long maxEarlyMillis;

  /** The largest number of attempts in one task. */
  private final int maxBatch;

  /** 1 if the number of calls is limited, because each ends many attempts; otherwise 0. */
  private final int callsPerTask;

  /** The attempts that are claimed ahead of their time. */
  private final Set<AttemptRun> early = new HashSet<>();

  private final ArrayDeque<AttemptRun> claimed = new ArrayDeque<>();
  private final Set<AttemptRun> running = new HashSet<>();

  private int calls;

  /** True if the executor of handlers has rejected an attempt and a retry is timed. */
  private boolean refused;

  private long refusedWaitMillis = FIRST_REFUSED_WAIT_MILLIS;

  private boolean closed;

  /**
   * @param onFreed called when slots are free again
   */
  HandlerAttempts(
      AttemptContext context,
      HandlerQueue.Config config,
      Executor executor,
      SlotBudget slots,
      Runnable onFreed) {
    this.context = context;
    this.config = config;
    this.executor = executor;
    this.slots = slots;
    this.onFreed = onFreed;
    maxEarlyMillis = context.store().traits().claimAhead().toMillis() + MAX_EARLY_MILLIS;
    maxBatch = config.handler() instanceof FinishingHandler finishing ? finishing.maxBatch() : 1;
    callsPerTask = maxBatch > 1 ? 1 : 0;
  }

  /** Starts a claimed attempt when it is due. */
  void begin(AttemptRun run) {
    try {
      switch (run.start(maxEarlyMillis)) {
        case NOW -> ready(run);
        case LATER -> readyLater(run);
        case GIVEN_BACK -> run.giveBack();
        case LOST -> run.recordLoss();
      }
    } catch (RuntimeException | Error e) {
      if (!contains(run)) { // otherwise it continues with its slot
        LOG.log(System.Logger.Level.ERROR, "after the claim of an attempt", e);
        run.giveBack();
      }
      throw e;
    }
  }

  private synchronized boolean contains(AttemptRun run) {
    return early.contains(run) || claimed.contains(run) || running.contains(run);
  }

  private void readyLater(AttemptRun run) {
    synchronized (this) {
      early.add(run);
    }
    try {
      Duration wait = Duration.ofMillis(run.earlyMillis());
      context.delays().start(() -> beginUnlessGivenBack(run), wait);
    } catch (IllegalStateException e) { // the wheel was stopped
      if (removeEarly(run)) {
        throw e;
      }
    }
  }

  /** Begins an attempt after its wait, unless it was given back meanwhile. */
  private void beginUnlessGivenBack(AttemptRun run) {
    if (removeEarly(run)) {
      begin(run);
    }
  }

  private synchronized boolean removeEarly(AttemptRun run) {
    return early.remove(run);
  }

  private void ready(AttemptRun run) {
    boolean back;
    synchronized (this) {
      claimed.add(run);
      back = closed;
    }
    if (back || run.start(maxEarlyMillis) == AttemptStart.GIVEN_BACK) {
      giveBack(other -> other == run); // here, because a full queue may start no other thread
    }
    runMore();
  }

  // The executor of handlers

  private void runMore() {
    for (List<AttemptRun> runs = next(); !runs.isEmpty(); runs = next()) {
      runs.forEach(AttemptRun::handed);
      try {
        executor.execute(
            config.handler() instanceof FinishingHandler finishing
                ? new FinishingCall(this, finishing, runs)
                : runs.get(0));
      } catch (RuntimeException | Error e) { // rejected, or no thread is available
        runs.forEach(AttemptRun::taken);
        tryAgainLater(runs, e);
      }
    }
  }

  /** Takes the attempts of one task: one, or those of one call of a finishing handler. */
  private synchronized List<AttemptRun> next() {
    List<AttemptRun> runs = new ArrayList<>();
    if (!refused && calls < FinishingHandler.MAX_CALLS) {
      int room = Math.min(maxBatch, config.limit() - running.size());
      while (runs.size() < room && !claimed.isEmpty()) {
        runs.add(claimed.remove());
      }
      running.addAll(runs);
      calls += runs.isEmpty() ? 0 : callsPerTask;
    }
    return runs;
  }

  /** Submits attempts again later. They stay claimed, so that a full executor causes no commit. */
  private void tryAgainLater(List<AttemptRun> runs, Throwable why) {
    long waitMillis;
    synchronized (this) {
      calls -= callsPerTask;
      for (int i = runs.size() - 1; i >= 0; i--) {
        running.remove(runs.get(i));
        claimed.addFirst(runs.get(i));
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
   * Runs code of the application, such as listeners, outside an attempt. If no thread is available,
   * the code runs later.
   */
  void execute(Runnable userCode) {
    try {
      executor.execute(userCode);
    } catch (RuntimeException | Error e) {
      executeLater(userCode);
    }
  }

  private void executeLater(Runnable userCode) {
    synchronized (this) {
      if (closed) {
        return;
      }
    }
    try {
      Duration wait = Duration.ofMillis(LONGEST_REFUSED_WAIT_MILLIS);
      context.delays().start(() -> execute(userCode), wait);
    } catch (IllegalStateException e) {
      // The wheel was stopped, which is like a close.
    }
  }

  // Running attempts

  /**
   * Decides whether an attempt that a thread has taken from the executor begins. Returns false if
   * it is given back.
   */
  synchronized boolean begins(AttemptRun run) {
    refusedWaitMillis = FIRST_REFUSED_WAIT_MILLIS;
    return !closed && run.begin();
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
    ended(runs, callsPerTask);
  }

  private void ended(List<AttemptRun> runs, int endedCalls) {
    synchronized (this) {
      calls -= endedCalls;
      runs.forEach(running::remove);
    }
    runMore();
    slots.release(runs.size(), (int) runs.stream().filter(AttemptRun::isLeased).count());
    onFreed.run();
  }

  /**
   * Logs attempts that no thread has begun, because an executor may drop tasks silently. Ends
   * attempts whose completion was lost to a stack overflow.
   */
  void maintain() {
    List<AttemptRun> now = allRunning();
    long nowMillis = context.nowMillis();
    long dropped = now.stream().filter(run -> run.mayBeDropped(nowMillis)).count();
    now.forEach(run -> run.call().look());
    if (dropped > 0) {
      LOG.log(
          System.Logger.Level.WARNING,
          "{0} attempts of the handler {1} have waited for a thread for over a minute: is the"
              + " executor full, or does it drop tasks?",
          dropped,
          config.name());
    }
  }

  private synchronized List<AttemptRun> allRunning() {
    return List.copyOf(running);
  }

  synchronized int running() {
    return running.size();
  }

  boolean isRunBy(Thread thread) {
    return allRunning().stream().anyMatch(run -> run.call().isOn(thread));
  }

  /** Interrupts the running attempts after the shutdown timeout. */
  void interrupt() {
    allRunning().forEach(run -> run.call().interrupt());
  }

  /** Starts no further attempts, and gives back claimed attempts that have not begun. */
  void close() {
    synchronized (this) {
      closed = true;
    }
    giveBack(run -> true);
  }

  /**
   * Gives back claimed attempts that have not begun; they do not count. An attempt that was
   * submitted to an executor is given back when a thread takes it.
   */
  void giveBack(Predicate<AttemptRun> which) {
    List<AttemptRun> back = new ArrayList<>();
    synchronized (this) {
      claimed.stream().filter(which).forEach(back::add);
      early.stream().filter(which).forEach(back::add);
      claimed.removeAll(back);
      early.removeAll(back);
      running.stream().filter(which).forEach(AttemptRun::stop);
    }
    back.forEach(AttemptRun::giveBack);
  }
}
