// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.proof.Child.Mark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Kills a JVM with durable timers many times while it starts, works, recovers and closes. Then
 * every timer must fire. {@link LogChecker} judges the results and observations of the children.
 */
public final class Kills {
  private static final String USAGE =
      "--rounds N (10), --minutes N (the time for starting rounds), --life N rounds on one"
          + " store (50), --parallel N (2), --skew MILLIS (0), --suspend MILLIS (of each"
          + " child), --seed N, --fault NAME, --directory PATH";
  private static final Set<String> NAMES =
      Set.of(
          "rounds", "minutes", "life", "parallel", "skew", "suspend", "seed", "fault", "directory");

  /** The fault that the parent injects: it cuts the end off the write-ahead log. */
  static final String CUT = "cut";

  private static final int VERIFY_EVERY = 5;
  private static final int SUSPEND = 9;
  private static final int WORK_BYTES = 30_000;

  private final Plan plan;
  private final Consumer<String> progress;
  private final TimeLimit limit;

  /**
   * The plan of a run.
   *
   * @param rounds the number of children, without those that drain
   * @param minutes the time after which no round starts; 0 for no limit
   * @param life the number of rounds on one store
   * @param parallel the number of stores at a time
   * @param skewMillis the largest error of the clocks of children
   * @param suspendMillis the time for which each child is suspended; 0 for some of them, briefly
   * @param seed the seed of all random numbers
   * @param fault the fault that is injected on purpose
   * @param directory the directory of stores and logs; those of a life without violations are
   *     deleted
   */
  record Plan(
      int rounds,
      int minutes,
      int life,
      int parallel,
      int skewMillis,
      int suspendMillis,
      long seed,
      String fault,
      Path directory) {}

  /** The result of a run. */
  static final class Report {
    final List<String> violations = new ArrayList<>();
    final Map<Mark, Integer> kills = new EnumMap<>(Mark.class);
    int killedBeforeOpening;
    int ended;
    int suspended;
    long acknowledged;
    long begun;
    long completed;

    void add(Report other) {
      violations.addAll(other.violations);
      other.kills.forEach((mark, count) -> kills.merge(mark, count, Integer::sum));
      killedBeforeOpening += other.killedBeforeOpening;
      ended += other.ended;
      suspended += other.suspended;
      acknowledged += other.acknowledged;
      begun += other.begun;
      completed += other.completed;
    }

    int rounds() {
      return killedBeforeOpening
          + ended
          + kills.values().stream().mapToInt(Integer::intValue).sum();
    }

    @Override
    public String toString() {
      return String.format(
          "%,d rounds: killed %d before opening, %d while opening, %d while starting, %d at work"
              + " (%d of them suspended), %d while closing, %d after; %d ended"
              + " cleanly%n%,d schedules committed, %,d attempts started, %,d successes recorded;"
              + " %d"
              + " violations",
          rounds(),
          killedBeforeOpening,
          kills.getOrDefault(Mark.OPENING, 0),
          kills.getOrDefault(Mark.OPENED, 0),
          kills.getOrDefault(Mark.STARTED, 0),
          suspended,
          kills.getOrDefault(Mark.CLOSING, 0),
          kills.getOrDefault(Mark.CLOSED, 0),
          ended,
          acknowledged,
          begun,
          completed,
          violations.size());
    }
  }

  Kills(Plan plan, Consumer<String> progress) {
    this.plan = plan;
    this.progress = progress;
    limit = new TimeLimit(plan.minutes);
  }

  public static void main(String[] args) throws Exception {
    Options options = Options.parse(args, USAGE, NAMES);
    int minutes = (int) options.number("minutes", 0);
    Plan plan =
        new Plan(
            (int) options.number("rounds", minutes == 0 ? 10 : TimeLimit.MAX_STEPS),
            minutes,
            (int) options.number("life", 50),
            (int) options.number("parallel", 2),
            (int) options.number("skew", 0),
            (int) options.number("suspend", 0),
            options.number("seed", System.nanoTime()),
            options.text("fault", Log.NONE),
            Path.of(options.text("directory", "target/kills")));
    System.out.println(plan);
    Report report = new Kills(plan, System.out::println).run();
    System.out.println(report);
    System.exit(report.violations.isEmpty() ? 0 : 1);
  }

  Report run() throws IOException, InterruptedException, ExecutionException {
    Files.createDirectories(plan.directory);
    ExecutorService workers = Executors.newFixedThreadPool(plan.parallel);
    try {
      List<Future<Report>> lives = new ArrayList<>();
      for (int first = 0; first < plan.rounds; first += plan.life) {
        int number = first / plan.life;
        int rounds = Math.min(plan.life, plan.rounds - first);
        Callable<Report> life = () -> new Life(number, rounds).run();
        lives.add(workers.submit(life));
      }
      Report all = new Report();
      for (Future<Report> life : lives) {
        all.add(life.get());
      }
      return all;
    } finally {
      workers.shutdownNow();
    }
  }

  /** The rounds on one store. */
  private final class Life {
    private final int number;
    private final int rounds;
    private final Path directory;
    private final Path store;
    private final Path log;
    private final Path errors;
    private final Random random;
    private final Report report = new Report();

    Life(int number, int rounds) {
      this.number = number;
      this.rounds = rounds;
      random = new Random(plan.seed + number);
      directory = plan.directory.resolve("life-" + number).toAbsolutePath();
      store = directory.resolve("store");
      log = directory.resolve("log");
      errors = directory.resolve("errors");
    }

    Report run() throws IOException, InterruptedException {
      if (limit.isOver()) {
        return report;
      }
      Directories.delete(directory);
      Files.createDirectories(directory);
      Files.createFile(log);
      for (int round = 1; round <= rounds && !limit.isOver(); round++) {
        round(round);
        if (plan.fault.equals(CUT)) {
          WriteAheadLog.cutNewest(store, 2_000);
        }
      }
      if (start(rounds + 1, true, true).awaitExit() != 0) {
        report.violations.add("the last child failed: see " + errors);
      }
      LogChecker checker = new LogChecker();
      checker.read(log);
      report.violations.addAll(checker.judge(plan.skewMillis));
      if (checker.overtaken() > 0) {
        report.violations.add("attempts started out of order: " + checker.overtaken());
      }
      report.acknowledged = checker.acknowledged();
      report.begun = checker.begun();
      report.completed = checker.completed();
      if (report.violations.isEmpty()) {
        Directories.delete(directory);
      } else {
        Files.write(directory.resolve("violations"), report.violations);
      }
      progress.accept(String.format("life %d: %s", number, report));
      report.violations.stream().limit(20).forEach(progress);
      return report;
    }

    private ChildProcess start(int round, boolean verify, boolean drain) throws IOException {
      boolean sound = drain || plan.fault.equals(CUT);
      String fault = sound ? Log.NONE : plan.fault;
      Child.Settings settings =
          new Child.Settings(
              store, log, round, random.nextLong(), fault, plan.skewMillis, verify, drain);
      return ChildProcess.start(Child.class, errors, List.of("-Xmx128m"), settings.toArgs());
    }

    private void round(int round) throws IOException, InterruptedException {
      ChildProcess child = start(round, round % VERIFY_EVERY == 0, false);
      if (!plan.fault.equals(Log.NONE)) {
        awaitWork(child);
        child.kill();
        count(child.last());
        return;
      }
      int kind = plan.suspendMillis > 0 ? SUSPEND : random.nextInt(20);
      if (kind < 2) {
        Thread.sleep(random.nextInt(300));
      } else if (kind < 5) {
        await(child, Mark.OPENING);
        Thread.sleep(random.nextInt(100));
      } else {
        await(child, Mark.STARTED);
        Thread.sleep(random.nextInt(1_200));
        if (kind < 8) {
          child.endInput();
          Thread.sleep(random.nextInt(60));
        } else if (kind == 8) {
          child.endInput();
          child.await(Mark.CLOSED.name());
          child.awaitExit();
          report.ended++;
          return;
        } else if (kind == SUSPEND) {
          child.suspend();
          Thread.sleep(plan.suspendMillis > 0 ? plan.suspendMillis : random.nextInt(1_500));
          child.goOn();
          Thread.sleep(random.nextInt(300));
          report.suspended++;
        }
      }
      child.kill();
      count(child.last());
    }

    /** Waits until the child has made enough progress for an injected fault to have an effect. */
    private void awaitWork(ChildProcess child) throws IOException, InterruptedException {
      long enough = Files.size(log) + WORK_BYTES;
      await(child, Mark.STARTED);
      for (int i = 0; i < 1_000 && Files.size(log) < enough; i++) {
        Thread.sleep(10);
      }
    }

    private void await(ChildProcess child, Mark mark) throws InterruptedException {
      if (child.await(mark.name()) == null) {
        report.violations.add("a child ended before " + mark + ": see " + errors);
      }
    }

    private void count(@Nullable String last) {
      if (last == null) {
        report.killedBeforeOpening++;
      } else {
        report.kills.merge(Mark.valueOf(last), 1, Integer::sum);
      }
    }
  }
}
