// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import io.timewheel.Timeout;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;

/**
 * The soak test of the timers, which runs for a given time. Four long-lived timers, hashed and
 * hierarchical, with and without an executor, hold millions of timeouts. Several threads start,
 * move and cancel these. Another thread makes and stops short-lived timers. Tasks throw, fail,
 * stall and interrupt; executors reject; timer threads and producers are interrupted and delayed.
 * At the end, every timeout must have exactly one outcome. At checkpoints, the counts must be right
 * and the heap must not have grown.
 *
 * <p>The phases are in {@link #soak}.
 */
public final class Soak {
  private static final int CHECKPOINTS = 10;
  private static final long LOST_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final long QUIET_SECONDS = 60;
  private static final long END_SECONDS = 60;
  private static final long GIVE_UP_MINUTES = 20;

  private final SoakOptions options;
  private final PrintStream out;
  private final Progress progress;
  private final SplittableRandom random;
  private final Violations violations = new Violations();
  private final Threads threads = new Threads(violations);
  private final LongAdder handled = new LongAdder();
  private final HeapWatch heap = new HeapWatch();
  private final List<Thread> victims = new CopyOnWriteArrayList<>();
  private final Population population;
  private final List<Producer> producers = new ArrayList<>();
  private final List<Thread> producerThreads = new ArrayList<>();
  private final ShortLived shortLived;
  private final Disturber disturber;
  private long mostPending;
  private int checkpoints;

  private Soak(SoakOptions options, PrintStream out) {
    this.options = options;
    this.out = out;
    this.progress = new Progress(out, options.minutes());
    this.random = new SplittableRandom(options.seed());
    this.population =
        new Population(
            Subject.all(options.live(), threads, victims, handled, violations),
            options.live(),
            violations);
    this.shortLived = new ShortLived(population, threads, violations, random.split());
    this.disturber = new Disturber(victims, random.split());
  }

  /**
   * Runs the soak test. The exit code is 0 if all checks passed, 1 if one failed, 2 if the options
   * are invalid.
   *
   * @param args see {@code --help}
   */
  public static void main(String[] args) throws InterruptedException {
    System.exit(run(args, System.out, System.err));
  }

  static int run(String[] args, PrintStream out, PrintStream err) throws InterruptedException {
    if (args.length == 1 && args[0].equals("--help")) {
      out.print(SoakOptions.USAGE);
      return 0;
    }
    SoakOptions options;
    try {
      options = SoakOptions.parse(args, Runtime.getRuntime().maxMemory());
    } catch (SoakOptions.UsageException e) {
      err.println(e.getMessage());
      return 2;
    }
    Thread watchdog = watchdog(options.minutes(), err);
    try {
      return new Soak(options, out).soak();
    } finally {
      watchdog.interrupt();
    }
  }

  /**
   * Prints the stack traces of all threads and ends the JVM, if the soak does not end by itself.
   */
  private static Thread watchdog(double minutes, PrintStream err) {
    long nanos = (long) ((minutes + GIVE_UP_MINUTES) * 60e9);
    Thread watchdog =
        new Thread(
            () -> {
              try {
                TimeUnit.NANOSECONDS.sleep(nanos);
              } catch (InterruptedException e) {
                return;
              }
              err.println("the soak has not ended; its threads:");
              Thread.getAllStackTraces()
                  .forEach(
                      (thread, stack) -> {
                        err.println(thread);
                        for (StackTraceElement element : stack) {
                          err.println("    at " + element);
                        }
                      });
              Runtime.getRuntime().halt(1);
            },
            "watchdog");
    watchdog.setDaemon(true);
    watchdog.start();
    return watchdog;
  }

  private int soak() throws InterruptedException {
    out.printf(
        "Soaking %,d timeouts for %s minutes with %d threads, seed %d%n",
        options.live(), options.minutes(), options.threads(), options.seed());
    // 1. Fill all places with timeouts, while all threads already work.
    start();
    while (!producers.stream().allMatch(Producer::isFilled) && violations.count() == 0) {
      pause();
    }
    // 2. Let the threads work, and run all checks at checkpoints.
    long totalNanos = (long) (options.minutes() * 60e9);
    long startNanos = System.nanoTime();
    for (int i = 0; i <= CHECKPOINTS && violations.count() == 0; i++) {
      while (System.nanoTime() - startNanos < totalNanos / CHECKPOINTS * i) {
        pause();
      }
      checkpoint();
    }
    // 3. Stop everything except the timers, let due timeouts run, and count.
    quieten();
    // 4. Stop the timers. Every timeout is accounted for.
    long pending = stopTimers();
    // 5. No thread is left.
    threads.checkAllEnded(END_SECONDS);
    report(pending);
    return violations.count() == 0 ? 0 : 1;
  }

  // The phases

  private void start() {
    int first = population.firstForProducers();
    int share = (population.size() - first) / options.threads();
    for (int i = 0; i < options.threads(); i++) {
      int to = i == options.threads() - 1 ? population.size() : first + share * (i + 1);
      Producer producer = new Producer(population, first + share * i, to, random.split());
      producers.add(producer);
      producerThreads.add(threads.start("producer", producer));
    }
    victims.addAll(producerThreads);
    population.startChains();
    threads.start("disturber", disturber);
    threads.start("maker", shortLived);
  }

  private void pause() {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
    long pending = sum(subject -> subject.timer.pendingTimeouts());
    mostPending = Math.max(mostPending, pending);
    if (progress.isDue()) {
      progress.show(
          String.format(
              "pending %,d  started %,d  run %,d  cancelled %,d  moved %,d  short-lived timers %,d"
                  + "  heap %,d MB  violations %d",
              pending,
              sum(subject -> subject.started.sum()),
              sum(subject -> subject.ran.sum()),
              sum(subject -> subject.won.sum()),
              sum(subject -> subject.moved.sum()),
              shortLived.timers.sum(),
              (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) >> 20,
              violations.count()));
    }
  }

  /** Blocks all threads except those of the timers, counts timeouts, and collects garbage. */
  private void checkpoint() throws InterruptedException {
    population.gate.writeLock().lock();
    try {
      Population.Census census = checkCounts(LOST_NANOS);
      for (int i = 0; i < population.subjects.size(); i++) {
        violations.checkEqual(
            census.overdue[i], 0, population.subjects.get(i).name + ": overdue for minutes");
      }
      heap.look(census.taken, violations);
      checkpoints++;
      population.startChains(); // the chains that were blocked
    } finally {
      population.gate.writeLock().unlock();
    }
  }

  /**
   * Counts the pending timeouts one by one, and compares the result with the timer's own count. No
   * thread starts or cancels timeouts meanwhile, so the result lies between the timer's counts
   * before and after. If these are equal, the timer's count must be exact.
   */
  private Population.Census checkCounts(long overdueNanos) {
    List<Long> before = new ArrayList<>();
    for (Subject subject : population.subjects) {
      subject.checkStarts();
      before.add(subject.timer.pendingTimeouts());
    }
    Population.Census census = population.census(overdueNanos);
    for (int i = 0; i < before.size(); i++) {
      Subject subject = population.subjects.get(i);
      long after = subject.timer.pendingTimeouts();
      violations.check(
          after <= census.pending[i] && census.pending[i] <= before.get(i),
          String.format(
              "%s: pendingTimeouts() was %,d, then %,d (expected: around %,d)",
              subject.name, before.get(i), after, census.pending[i]));
    }
    return census;
  }

  private void quieten() throws InterruptedException {
    producers.forEach(Producer::stop);
    shortLived.stop();
    disturber.stop();
    for (Thread thread : producerThreads) {
      threads.join(thread, END_SECONDS);
    }
    population.subjects.forEach(Subject::calm);
    population.gate.writeLock().lock(); // permanently: the chains end
    try {
      // Postpone timeouts that would expire during the count.
      population.postpone(60);
      awaitQuiet();
      List<Long> before = population.subjects.stream().map(s -> s.ran.sum()).toList();
      Population.Census census = checkCounts(0);
      List<Long> after = population.subjects.stream().map(s -> s.ran.sum()).toList();
      violations.check(before.equals(after), "not quiet: " + before + " tasks had run, " + after);
      for (int i = 0; i < before.size(); i++) {
        Subject subject = population.subjects.get(i);
        violations.checkEqual(
            subject.timer.pendingTimeouts(), census.pending[i], subject.name + ": pending");
      }
      progress.say("quiet: pendingTimeouts() is exact");
    } finally {
      population.gate.writeLock().unlock();
    }
  }

  /**
   * Waits until no timeout is due and no task runs. Reports a violation if no task runs for {@link
   * #QUIET_SECONDS}.
   */
  private void awaitQuiet() {
    long ran = -1;
    long progressNanos = System.nanoTime();
    while (true) {
      Population.Census census = population.census(0);
      long left = 0;
      for (int i = 0; i < census.overdue.length; i++) {
        left += census.overdue[i] + census.underWay[i];
      }
      if (left == 0) {
        return;
      }
      long ranNow = sum(subject -> subject.ran.sum());
      if (ranNow != ran) {
        ran = ranNow;
        progressNanos = System.nanoTime();
      } else if (System.nanoTime() - progressNanos > QUIET_SECONDS * 1_000_000_000) {
        violations.add(left + " timeouts are due, and nothing has run for " + QUIET_SECONDS + " s");
        return;
      }
      pause();
    }
  }

  private long stopTimers() throws InterruptedException {
    long pending = 0;
    for (Subject subject : population.subjects) {
      Set<Timeout> rest = subject.timer.stop();
      pending += rest.size();
      for (Timeout timeout : rest) {
        ((SoakTask) timeout.task()).returned();
      }
      violations.check(
          subject.timer.stop().isEmpty(), subject.name + ": stop() returned timeouts twice");
      try {
        subject.timer.newTimeout(timeout -> {}, 1, TimeUnit.SECONDS);
        violations.add(subject.name + ": accepted a timeout after stop()");
      } catch (IllegalStateException e) {
        // as in the contract
      }
      if (subject.executor != null) {
        violations.check(
            subject.executor.shutDown(END_SECONDS), subject.name + ": the executor has not ended");
      }
    }
    population.checkFates();
    population.subjects.forEach(Subject::checkEnd);
    return pending;
  }

  private long sum(ToLongFunction<Subject> figure) {
    return population.subjects.stream().mapToLong(figure).sum();
  }

  private void report(long pending) {
    long count = violations.count();
    out.printf("%nTimewheel soak: %s%n", count == 0 ? "clean" : count + " VIOLATIONS");
    violations.first().forEach(what -> out.println("  VIOLATION    " + what));
    out.printf(
        "  jvm          %s %s, heap %,d MB, %d processors%n",
        System.getProperty("java.vm.name"),
        System.getProperty("java.vm.version"),
        Runtime.getRuntime().maxMemory() >> 20,
        Runtime.getRuntime().availableProcessors());
    out.printf(
        "  settings     %s minutes, %,d live, %d threads, seed %d%n",
        options.minutes(), options.live(), options.threads(), options.seed());
    out.printf(
        "  pending      %,d at most; %,d when quiet, which pendingTimeouts() returned exactly%n",
        mostPending, pending);
    population.subjects.forEach(subject -> subject.report(out));
    shortLived.report(out);
    out.printf(
        "  disturbed    by %,d interrupts; %,d errors of callbacks handled%n",
        disturber.interrupts.sum(), handled.sum());
    out.printf("  checkpoints  %,d%n", checkpoints);
    out.printf("  heap         %s%n", heap.report());
    out.printf("  threads      %s%n", count == 0 ? "none left" : "see above");
  }
}
