// SPDX-License-Identifier: Apache-2.0
package io.timewheel.chaos;

import io.timewheel.PolledTimer;
import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerStats;
import io.timewheel.TimerTask;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One timer with a clock that jumps forward and back, and a list of all timeouts that were started
 * on the timer.
 *
 * <p>The requirements:
 *
 * <ul>
 *   <li>No task runs before the latest time of the clock has reached a tick at or after its
 *       deadline.
 *   <li>Every timeout that is due runs while the clock stands still.
 *   <li>Every timeout runs once, or is cancelled once. Timeouts that are never due never run.
 *   <li>The timer thread makes no unnecessary wake-ups.
 * </ul>
 */
final class ChaosRun {
  private static final long LOST_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long HOUR = 3_600_000_000_000L;
  private static final long YEAR = 24 * 365 * HOUR;

  private static final long[] ORIGINS = {
    0,
    1,
    -1,
    Long.MIN_VALUE,
    Long.MIN_VALUE + 5,
    Long.MAX_VALUE,
    Long.MAX_VALUE - 1,
    Long.MAX_VALUE - HOUR,
    -HOUR,
    -YEAR
  };

  /**
   * Tasks may start each other forever if the clock has fallen back, so their starts are limited.
   */
  private static final int MAX_STARTS_BY_TASKS = 200;

  private final SplittableRandom random;
  private final ChaosClock clock;
  private final Timer timer;
  private final long tickNanos;
  private final List<String> log = new ArrayList<>();
  private final List<Task> tasks = new CopyOnWriteArrayList<>();
  private final AtomicReference<@Nullable Thread> worker = new AtomicReference<>();
  private final AtomicReference<@Nullable String> wrong = new AtomicReference<>();
  private final AtomicInteger startsByTasks = new AtomicInteger();

  ChaosRun(ChaosTimers kind, long seed) {
    random = new SplittableRandom(seed);
    clock = new ChaosClock(ORIGINS[random.nextInt(ORIGINS.length)]);
    ChaosTimers.Made made = kind.make(clock, this::newThread, random);
    timer = made.timer();
    tickNanos = made.tickNanos();
    log.add(made.text());
  }

  private Thread newThread(Runnable work) {
    Thread thread = new Thread(work, "chaos-worker");
    thread.setDaemon(true);
    worker.set(thread);
    return thread;
  }

  /** Runs a number of random steps, checks the end, and returns the number of timeouts. */
  long run(int steps) throws InterruptedException {
    for (int i = 0; i < steps; i++) {
      step();
      checkNothingWrong();
    }
    end();
    return tasks.size();
  }

  List<String> log() {
    return log;
  }

  // Actions

  private void step() throws InterruptedException {
    switch (random.nextInt(12)) {
      case 0, 1, 2, 3, 4 -> {
        long delayNanos = delay();
        Behaviour behaviour = Behaviour.random(random);
        log.add("start " + delayNanos + " " + behaviour);
        start(delayNanos, behaviour);
      }
      case 5 -> {
        Task task = any();
        if (task != null) {
          log.add("cancel " + task.number);
          task.cancel();
        }
      }
      case 6, 7 -> {
        Task task = any();
        if (task != null) {
          long delayNanos = delay();
          log.add("move " + task.number + " " + delayNanos);
          task.move(delayNanos);
        }
      }
      case 8 -> {
        if (timer instanceof PolledTimer polled) {
          polled.poll(random.nextInt(3));
        }
      }
      default -> {
        move();
        log.add("clock at " + clock.elapsedNanos());
        settle();
      }
    }
  }

  /** Moves the clock: a little, to about the next deadline, or by years; sometimes back. */
  private void move() {
    switch (random.nextInt(8)) {
      case 0, 1 -> clock.advance(tickNanos * random.nextInt(3) + random.nextInt(3));
      case 2, 3, 4 ->
          tasks.stream()
              .filter(task -> !task.isDone())
              .mapToLong(task -> task.deadlineNanos)
              .min()
              .ifPresent(nanos -> clock.set(Math.min(nanos, ChaosClock.END - 2) + around()));
      case 5 -> clock.advance(random.nextLong(5) * HOUR);
      case 6 -> clock.advance(random.nextInt(3) == 0 ? YEAR : span());
      default -> clock.advance(-span());
    }
  }

  private long around() {
    return switch (random.nextInt(4)) {
      case 0 -> -1;
      case 1 -> 1;
      case 2 -> Math.min(tickNanos, YEAR);
      default -> 0;
    };
  }

  /** Returns a random duration, with all orders of magnitude equally likely. */
  private long span() {
    return random.nextLong(1L << random.nextInt(1, 58));
  }

  private long delay() {
    return switch (random.nextInt(12)) {
      case 0 -> 0;
      case 1 -> -span();
      case 2 -> random.nextBoolean() ? Long.MIN_VALUE : Long.MAX_VALUE;
      case 3 -> Long.MAX_VALUE - span();
      case 4, 5 -> Math.multiplyExact(tickNanos, random.nextInt(70)) + random.nextInt(3) - 1;
      case 6 -> random.nextLong(3) * YEAR + random.nextInt(2);
      default -> span();
    };
  }

  private @Nullable Task any() {
    return tasks.isEmpty() ? null : tasks.get(random.nextInt(tasks.size()));
  }

  private void start(long delayNanos, Behaviour behaviour) {
    Task task = new Task(behaviour);
    clock.still(
        () -> {
          task.deadlineNanos = clock.deadlineNanos(delayNanos);
          tasks.add(task);
          task.timeout = timer.newTimeout(task, delayNanos, TimeUnit.NANOSECONDS);
        });
  }

  // Requirements

  /** Lets due tasks run, while the clock stands still. */
  private void settle() throws InterruptedException {
    if (timer instanceof PolledTimer polled) {
      while (polled.poll() > 0) {
        // A task that stalled has moved the clock, so more timeouts are due.
      }
    }
    await("a due task does not run", () -> tasks.stream().noneMatch(Task::isOverdue));
    await("pendingTimeouts() is wrong", this::isQuiet);
  }

  /** Returns whether no timeout was started during the count, and no task is still running. */
  private boolean isQuiet() {
    int started = tasks.size();
    long pending = timer.pendingTimeouts();
    return pending == tasks.stream().filter(task -> !task.isDone()).count()
        && pending == timer.pendingTimeouts()
        && started == tasks.size();
  }

  @SuppressWarnings("ThreadPriorityCheck") // the timer thread may need this processor
  private void await(String fault, BooleanSupplier condition) throws InterruptedException {
    long startNanos = System.nanoTime();
    while (!condition.getAsBoolean()) {
      checkNothingWrong();
      if (System.nanoTime() - startNanos > LOST_NANOS) {
        throw new AssertionError(
            fault + ": " + timer.stats() + " " + tasks.stream().filter(Task::isOverdue).toList());
      }
      Thread.yield();
    }
  }

  private void checkNothingWrong() {
    String fault = wrong.get();
    if (fault != null) {
      throw new AssertionError(fault);
    }
  }

  private void end() throws InterruptedException {
    clock.set(clock.latestNanos());
    settle();
    // Every timeout with a finite deadline runs eventually. Tasks may start other timeouts, but not
    // without end.
    for (boolean more = true; more; ) {
      long nanos =
          tasks.stream()
              .filter(task -> !task.isDone() && due(task.deadlineNanos, ChaosClock.END))
              .mapToLong(task -> dueNanos(task.deadlineNanos))
              .min()
              .orElse(-1);
      more = nanos >= 0;
      if (more) {
        clock.set(Math.max(nanos, clock.latestNanos()));
        log.add("clock at " + clock.elapsedNanos());
        settle();
      }
    }
    Thread thread = worker.get();
    Set<Timeout> rest = timer.stop();
    if (thread != null) {
      thread.join(TimeUnit.NANOSECONDS.toMillis(LOST_NANOS));
      require(!thread.isAlive(), "the thread does not end");
    }
    for (Task task : tasks) {
      task.checkEnd(rest);
    }
    checkStats(rest.size());
    checkNothingWrong();
  }

  private void checkStats(int rest) {
    TimerStats stats = timer.stats();
    long ran = tasks.stream().filter(task -> task.runs.get() > 0).count();
    require(
        stats.pending() == 0
            && stats.started() == tasks.size()
            && stats.expired() == ran
            && stats.cancelled() == tasks.size() - ran
            && rest <= stats.cancelled(),
        "in the end: " + stats);
    require(
        stats.wakeups() <= stats.started() + stats.rescheduled() + clock.moves() + 2,
        "woken for no reason: " + stats + ", " + clock.moves() + " moves of the clock");
  }

  /**
   * Records the first fault, from any thread. Throwing is not enough, because a timer catches
   * exceptions of tasks.
   */
  private void require(boolean condition, String fault) {
    if (!condition) {
      wrong.compareAndSet(null, fault);
    }
  }

  private boolean due(long deadlineNanos, long nowNanos) {
    return nowNanos / tickNanos * tickNanos >= deadlineNanos;
  }

  /** Returns the beginning of the first tick at or after a deadline that has one. */
  private long dueNanos(long deadlineNanos) {
    return ((deadlineNanos - 1) / tickNanos + 1) * tickNanos;
  }

  /** The further actions of a task. */
  private enum Behaviour {
    NOTHING,
    THROWS,
    /** Moves the clock by hours or years, like a slow task. */
    STALLS,
    STARTS,
    CANCELS,
    MOVES;

    private static final Behaviour[] ALL = values();

    static Behaviour random(SplittableRandom random) {
      return random.nextBoolean() ? NOTHING : ALL[random.nextInt(ALL.length)];
    }
  }

  private final class Task implements TimerTask {
    final int number = tasks.size();
    final AtomicInteger runs = new AtomicInteger();
    private final AtomicInteger cancellations = new AtomicInteger();
    private final Behaviour behaviour;
    private volatile @Nullable Timeout timeout;
    private volatile boolean returned;
    volatile long deadlineNanos;

    Task(Behaviour behaviour) {
      this.behaviour = behaviour;
    }

    /** Returns whether the task has returned, so its effects on other timeouts are complete. */
    boolean isDone() {
      return returned || cancellations.get() > 0;
    }

    boolean isOverdue() {
      return !isDone() && due(deadlineNanos, clock.elapsedNanos());
    }

    void cancel() {
      Timeout handle = timeout;
      if (handle != null && handle.cancel()) {
        require(cancellations.get() == 1, this + ": cancelled, but not notified");
      }
    }

    synchronized void move(long delayNanos) {
      Timeout handle = timeout;
      if (handle == null) {
        return;
      }
      clock.still(
          () -> {
            long nanos = clock.deadlineNanos(delayNanos);
            // Until the move is complete, it may run at the old or the new deadline.
            deadlineNanos = Math.min(deadlineNanos, nanos);
            if (handle.reschedule(delayNanos, TimeUnit.NANOSECONDS)) {
              deadlineNanos = nanos;
            }
          });
    }

    @Override
    public void run(Timeout self) {
      require(runs.incrementAndGet() == 1 && cancellations.get() == 0, this + ": ran again");
      require(
          deadlineNanos < Long.MAX_VALUE && due(deadlineNanos, clock.latestNanos()),
          this + ": ran early, at " + clock.latestNanos());
      try {
        behave();
      } finally {
        returned = true;
      }
    }

    private void behave() {
      switch (behaviour) {
        case NOTHING -> {}
        case THROWS -> throw new IllegalStateException("chaos");
        case STALLS -> clock.advance(number % 2 == 0 ? 5 * HOUR : YEAR);
        case STARTS -> {
          if (startsByTasks.incrementAndGet() <= MAX_STARTS_BY_TASKS) {
            start(number * tickNanos, number % 2 == 0 ? Behaviour.STARTS : Behaviour.NOTHING);
          }
        }
        case CANCELS -> tasks.get(number / 2).cancel();
        case MOVES -> {
          if (number > 0) { // a task that moves its own timeout would re-arm it
            tasks.get(number / 2).move(HOUR);
          }
        }
      }
    }

    @Override
    public void cancelled(Timeout self) {
      require(cancellations.incrementAndGet() == 1 && runs.get() == 0, this + ": notified again");
    }

    void checkEnd(Set<Timeout> rest) {
      Timeout handle = timeout;
      require(handle != null && runs.get() + cancellations.get() == 1, this + ": no outcome");
      if (handle != null) {
        require(handle.isExpired() == (runs.get() == 1), this + ": isExpired()");
        require(handle.isCancelled() == (cancellations.get() == 1), this + ": isCancelled()");
        require(!rest.contains(handle) || cancellations.get() == 1, this + ": returned, but ran");
      }
    }

    @Override
    public String toString() {
      return number
          + " (deadline "
          + deadlineNanos
          + ", ran "
          + runs
          + ", cancelled "
          + cancellations
          + ", "
          + behaviour
          + (timeout == null ? ", not accepted)" : ")");
    }
  }
}
