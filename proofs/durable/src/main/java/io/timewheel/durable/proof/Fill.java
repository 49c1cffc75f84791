// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.BatchResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.spi.TimerStore;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Fills a store with timers of the next year, and prints the cost at each milestone. The cost is
 * the memory of this process and of one that reopens the store, the time to open, and the bytes on
 * disk.
 */
public final class Fill {
  private static final String USAGE =
      "--timers N, the last of the milestones (1,000,000), --directory PATH";
  private static final Set<String> NAMES = Set.of("timers", "directory");
  private static final String NAMESPACE = "fill";
  private static final String HANDLER = "h";
  private static final int BATCH = 1_000;
  private static final int BATCHES_UNDER_WAY = 3;
  private static final Duration NEAREST = Duration.ofMinutes(10);
  private static final Duration SPREAD = Duration.ofDays(365);

  private final long timers;
  private final Path store;
  private final Path errors;
  private final Consumer<String> progress;
  private final List<Milestone> milestones = new ArrayList<>();

  /** The cost of this many timers. */
  record Milestone(long timers, double seconds, long diskBytes, Memory filling, Opened reopened) {
    @Override
    public String toString() {
      return String.format(
          "| %,d | %,.0f/s | %.0f | %s | %s |",
          timers, timers / seconds, (double) diskBytes / timers, filling, reopened);
    }
  }

  /** The memory of a process: the heap after a full collection, the total, and the wheel's part. */
  record Memory(long heapBytes, long residentBytes, int window) {
    static Memory of(DurableTimer scheduler) throws IOException {
      System.gc();
      long heap = 0;
      for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
        MemoryUsage collected = pool.getCollectionUsage(); // excludes later allocations
        heap += pool.getType() == MemoryType.HEAP && collected != null ? collected.getUsed() : 0;
      }
      long resident = 0;
      Path status = Path.of("/proc/self/status");
      if (Files.exists(status)) {
        for (String line : Files.readAllLines(status, StandardCharsets.UTF_8)) {
          if (line.startsWith("VmRSS:")) {
            resident = Long.parseLong(line.replaceAll("\\D", "")) << 10;
          }
        }
      }
      return new Memory(heap, resident, scheduler.stats().window());
    }

    @Override
    public String toString() {
      return String.format("%d MB | %d MB | %,d", heapBytes >> 20, residentBytes >> 20, window);
    }
  }

  /** A process that has just opened the store. */
  record Opened(long openMillis, long firstFiringMillis, Memory memory) {
    String toLine() {
      return String.join(
          " ",
          Long.toString(openMillis),
          Long.toString(firstFiringMillis),
          Long.toString(memory.heapBytes),
          Long.toString(memory.residentBytes),
          Integer.toString(memory.window));
    }

    static Opened of(String line) {
      String[] words = line.split(" ", -1);
      return new Opened(
          Long.parseLong(words[0]),
          Long.parseLong(words[1]),
          new Memory(
              Long.parseLong(words[2]), Long.parseLong(words[3]), Integer.parseInt(words[4])));
    }

    @Override
    public String toString() {
      return String.format("%,d ms | %,d ms | %s", openMillis, firstFiringMillis, memory);
    }
  }

  Fill(long timers, Path directory, Consumer<String> progress) {
    this.timers = timers;
    this.progress = progress;
    store = directory.toAbsolutePath().resolve("store");
    errors = directory.toAbsolutePath().resolve("errors");
  }

  public static void main(String[] args) throws Exception {
    Options options = Options.parse(args, USAGE, NAMES);
    Path directory = Path.of(options.text("directory", "target/fill"));
    Directories.delete(directory);
    Files.createDirectories(directory);
    System.out.println(
        "| timers | scheduled | bytes on disk each | heap | resident | on the wheel | opened in"
            + " | first firing | heap | resident | on the wheel |");
    System.out.println("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    new Fill(options.number("timers", 1_000_000), directory, System.out::println).run();
    Directories.delete(directory);
  }

  List<Milestone> run() throws IOException, InterruptedException {
    long from = 0;
    double seconds = 0;
    for (long milestone : milestonesUpTo(timers)) {
      long began = System.nanoTime();
      Memory filling;
      try (DurableTimer scheduler = open()) {
        schedule(scheduler, from, milestone);
        seconds += (System.nanoTime() - began) / 1e9;
        filling = Memory.of(scheduler);
      }
      from = milestone;
      Opened reopened = reopen();
      Milestone reached =
          new Milestone(milestone, seconds, Directories.size(store), filling, reopened);
      milestones.add(reached);
      progress.accept(reached.toString());
    }
    return milestones;
  }

  /** Returns one, ten, fifty million and so on. The last milestone is the number itself. */
  private static List<Long> milestonesUpTo(long timers) {
    List<Long> milestones = new ArrayList<>();
    for (long step : new long[] {1_000_000, 10_000_000}) {
      if (step < timers) {
        milestones.add(step);
      }
    }
    milestones.add(timers);
    return milestones;
  }

  private DurableTimer open() {
    return DurableTimer.builder(Stores.open(store, Log.NONE))
        .handler(HANDLER, firing -> {})
        .start();
  }

  private static void schedule(DurableTimer scheduler, long from, long to) {
    Random random = new Random(from);
    Instant nearest = Instant.now().plus(NEAREST);
    AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();
    Semaphore underWay = new Semaphore(BATCHES_UNDER_WAY);
    for (long i = from; i < to; i += BATCH) {
      List<TimerSpec> batch = new ArrayList<>(BATCH);
      for (long n = i; n < Math.min(to, i + BATCH); n++) {
        batch.add(
            TimerSpec.of(NAMESPACE, "order-" + n)
                .handler(HANDLER)
                .payload(("{\"order\":" + random.nextLong() + "}").getBytes(StandardCharsets.UTF_8))
                .at(nearest.plusMillis(random.nextLong(SPREAD.toMillis()))));
      }
      underWay.acquireUninterruptibly();
      scheduler
          .async()
          .scheduleAll(batch)
          .thenAccept(results -> results.forEach(BatchResult::orThrow))
          .whenComplete(
              (done, error) -> {
                if (error != null) {
                  failed.set(error);
                }
                underWay.release();
              });
    }
    underWay.acquireUninterruptibly(BATCHES_UNDER_WAY);
    if (failed.get() != null) {
      throw new IllegalStateException("not all were scheduled", failed.get());
    }
  }

  private Opened reopen() throws IOException, InterruptedException {
    ChildProcess child =
        ChildProcess.start(Reopen.class, errors, List.of("-Xmx256m"), store.toString());
    String line = child.await("");
    if (line == null) {
      throw new IllegalStateException("the child that reopens has failed: see " + errors);
    }
    child.awaitExit();
    return Opened.of(line);
  }

  /** A process that opens the store and waits for a first firing. */
  static final class Reopen {
    private Reopen() {}

    public static void main(String[] args) throws IOException, InterruptedException {
      CountDownLatch fired = new CountDownLatch(1);
      long began = System.nanoTime();
      TimerStore store = Stores.open(Path.of(args[0]), Log.NONE);
      long opened = System.nanoTime();
      try (DurableTimer scheduler =
          DurableTimer.builder(store).handler(HANDLER, firing -> fired.countDown()).start()) {
        scheduler.schedule(TimerSpec.of(NAMESPACE, "probe").handler(HANDLER).after(Duration.ZERO));
        fired.await();
        long firing = System.nanoTime();
        Opened result =
            new Opened(
                (opened - began) / 1_000_000, (firing - began) / 1_000_000, Memory.of(scheduler));
        System.out.println(result.toLine());
      }
      System.exit(0);
    }
  }
}
