// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.LeaseChange;
import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.benchmarks.ServerPlace.Server;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Measures how consumers of queues and other work affect each other. One figure is the lag of other
 * timers while consumers are busy or wait. The other is the rate of acks while a backlog of timers
 * becomes ready. Each case has a counterpart, measured in the same run.
 */
final class ConsumerBenchmarks {
  private static final String HELP =
      """
      benchmarks/durable/consumers [options]
        --stores NAMES     rocksdb,postgresql,mariadb
        --only SECTIONS    lag,acks
        --consumers LIST   busy consumers of one queue (32,256,1000)
        --idle N           consumers that wait, each at its own queue (10000)
        --seconds N        duration of each case (10)
        --backlog N        timers that become ready at once (200000)
      """;

  private static final String NAMESPACE = "shop";
  private static final int PER_SECOND = 200;
  private static final int POOL = 12;
  private static final int ACKERS = 64;
  private static final int MAX_CLAIM = 1_000;
  private static final int LIST = 5_000;

  private final Options options;
  private final int seconds;
  private final StringBuilder page = new StringBuilder();

  private ConsumerBenchmarks(Options options) {
    this.options = options;
    seconds = options.number("seconds", 10);
  }

  public static void main(String[] args) throws Exception {
    Options options = Options.parse(HELP, List.of("help"), args);
    if (options.has("help")) {
      System.out.print(HELP);
      return;
    }
    ConsumerBenchmarks benchmarks = new ConsumerBenchmarks(options);
    for (String store : List.of("rocksdb", "postgresql", "mariadb")) {
      if (options.names("stores", store)) {
        benchmarks.measure(store);
      }
    }
    System.out.print(benchmarks.page);
  }

  /** A durable timer on a new store, and the CPU time of the store's server. */
  private record Subject(DurableTimer scheduler, Place place, Closeable resources)
      implements AutoCloseable {
    @Override
    public void close() throws IOException {
      scheduler.close();
      resources.close();
    }
  }

  private interface Opener {
    Subject open(Consumer<String> onFire) throws Exception;
  }

  private void measure(String store) throws Exception {
    if (store.equals("rocksdb")) {
      measure(store, ConsumerBenchmarks::onRocks);
      return;
    }
    Server kind = store.equals("mariadb") ? Server.MARIADB : Server.POSTGRESQL;
    try (DatabaseServer server = kind.start()) {
      measure(store, onFire -> onServer(new ServerPlace(kind, server), onFire));
    }
  }

  private static Subject onRocks(Consumer<String> onFire) throws Exception {
    Path directory = Files.createTempDirectory(Path.of("benchmarks/durable/target"), "consumers");
    return subject(RocksTimerStore.open(directory), Place.directory(directory), () -> {}, onFire);
  }

  private static Subject onServer(ServerPlace place, Consumer<String> onFire) throws Exception {
    HikariDataSource pool = place.database().pool(POOL);
    TimerStore store =
        place.kind() == Server.POSTGRESQL
            ? JdbcTimerStore.postgresql(pool)
            : JdbcTimerStore.mariadb(pool);
    return subject(store, place, pool, onFire);
  }

  private static Subject subject(
      TimerStore store, Place place, Closeable resources, Consumer<String> onFire) {
    DurableTimer scheduler =
        DurableTimer.builder(store).handler("h", firing -> onFire.accept(firing.id())).start();
    return new Subject(scheduler, place, resources);
  }

  private void measure(String store, Opener opener) throws Exception {
    if (options.names("only", "lag")) {
      line(
          "| %s | CPU | p50 | p99 | max | acks/s | other work: p50 | p99 | max | p99 |  |"
              .formatted(store));
      line("|---|---|---|---|---|---|---|---|---|---|---|");
      Lag unused = lag(opener, load -> load.busyConsumers(32)); // warm-up
      for (String consumers : options.text("consumers", "32,256,1000").split(",", -1)) {
        int count = Integer.parseInt(consumers);
        compare(opener, count + " busy", load -> load.busyConsumers(count));
      }
      int idle = options.number("idle", 10_000);
      compare(opener, idle + " idle", load -> load.idleConsumers(idle));
      line("");
    }
    if (options.names("only", "acks")) {
      acks(store, opener);
    }
  }

  private void line(String text) {
    page.append(text).append('\n');
    System.err.println(text);
  }

  // Lag

  private record Lag(Histogram micros, double processors, double acksPerSecond) {
    double millis(double percentile) {
      return micros.getValueAtPercentile(percentile) / 1e3;
    }
  }

  private void compare(Opener opener, String name, Consumer<ConsumerLoad> work) throws Exception {
    Lag with = lag(opener, work);
    Lag other = lag(opener, load -> load.otherWork(with.processors));
    boolean met = with.millis(99) <= Math.max(100, 2 * other.millis(99));
    line(
        ("| %s | %.2f | %.1f ms | %.1f ms | %.1f ms | %.0f | %.1f ms | %.1f ms | %.1f ms | %.2f"
                + " times | %s |")
            .formatted(
                name,
                with.processors,
                with.millis(50),
                with.millis(99),
                with.millis(100),
                with.acksPerSecond,
                other.millis(50),
                other.millis(99),
                other.millis(100),
                with.millis(99) / other.millis(99),
                met ? "met" : "**NOT met**"));
  }

  /** Measures the lag of a handler's timers alongside some work. */
  private Lag lag(Opener opener, Consumer<ConsumerLoad> work) throws Exception {
    Histogram micros = new ConcurrentHistogram(TimeUnit.HOURS.toMicros(1), 3);
    Semaphore fired = new Semaphore(0);
    Consumer<String> onFire =
        id -> {
          long dueMillis = Long.parseLong(id, id.indexOf('-') + 1, id.length(), 10);
          Instant now = Instant.now();
          micros.recordValue(
              Math.max(
                  0, now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000 - dueMillis * 1_000));
          fired.release();
        };
    try (Subject subject = opener.open(onFire);
        ConsumerLoad load = new ConsumerLoad(subject.scheduler)) {
      work.accept(load);
      Thread.sleep(3_000); // until the work has started
      long acksBefore = load.acks();
      CpuMeter meter = new CpuMeter(subject.place);
      int timers = PER_SECOND * seconds;
      long firstMillis = System.currentTimeMillis() + 2_000;
      List<TimerSpec> specs = new ArrayList<>();
      for (int i = 0; i < timers; i++) {
        long dueMillis = firstMillis + i * 1_000L / PER_SECOND;
        specs.add(
            TimerSpec.of(NAMESPACE, i + "-" + dueMillis)
                .handler("h")
                .at(Instant.ofEpochMilli(dueMillis)));
      }
      var unused = subject.scheduler.scheduleAll(specs);
      fired.acquire(timers);
      long acks = load.acks() - acksBefore;
      double measuredSeconds = seconds + 2;
      Map<String, Double> cores = new HashMap<>();
      meter.stop().putCores(cores);
      return new Lag(
          micros,
          cores.values().stream().mapToDouble(Double::doubleValue).sum(),
          acks / measuredSeconds);
    }
  }

  // Acks

  /** Acks timers that were claimed before, without a backlog and then with one. */
  private void acks(String store, Opener opener) throws Exception {
    try (Subject subject = opener.open(id -> {})) {
      DurableTimer scheduler = subject.scheduler;
      Queue<QueueFiring> held = new ConcurrentLinkedQueue<>();
      claimAll(scheduler, held, options.number("backlog", 200_000) / 4);
      double warmup = ackRate(scheduler, held, 2);
      claimAll(scheduler, held, (int) (warmup * seconds * 4));
      double without = ackRate(scheduler, held, seconds);
      int backlog = options.number("backlog", 200_000);
      long dueMillis = System.currentTimeMillis() + 10_000;
      scheduleAll(scheduler, "backlog", backlog, Instant.ofEpochMilli(dueMillis));
      long leftMillis = dueMillis - System.currentTimeMillis();
      Thread.sleep(Math.max(0, leftMillis) + 200);
      double with = ackRate(scheduler, held, seconds);
      long ready = ready(scheduler);
      line(
          "| %s | acks/s | with %d becoming ready | became ready |  |  |"
              .formatted(store, backlog));
      line("|---|---|---|---|---|---|");
      line(
          "| %d callers | %.0f | %.0f | %d%s | %.2f times | %s |"
              .formatted(
                  ACKERS,
                  without,
                  with,
                  ready,
                  ready >= backlog ? " (all: too few)" : "",
                  with / without,
                  with >= without / 2 ? "met" : "**NOT met**"));
      line("");
    }
  }

  private static long ready(DurableTimer scheduler) {
    return scheduler.counts().getOrDefault(NAMESPACE, Map.of()).getOrDefault(TimerState.READY, 0L);
  }

  private static void scheduleAll(DurableTimer scheduler, String queue, int count, Instant at) {
    for (int from = 0; from < count; from += LIST) {
      List<TimerSpec> specs = new ArrayList<>();
      for (int i = from; i < Math.min(count, from + LIST); i++) {
        specs.add(
            TimerSpec.of(NAMESPACE, queue + "-" + System.nanoTime() + "-" + i).queue(queue).at(at));
      }
      var unused = scheduler.scheduleAll(specs);
    }
  }

  private static void claimAll(DurableTimer scheduler, Queue<QueueFiring> held, int count) {
    scheduleAll(scheduler, "acks", count, Instant.now());
    for (int claimed = 0; claimed < count; ) {
      List<QueueFiring> some =
          scheduler
              .async()
              .queue(NAMESPACE, "acks")
              .claim(MAX_CLAIM, Duration.ofHours(1), Duration.ofSeconds(30))
              .toCompletableFuture()
              .join();
      if (some.isEmpty()) {
        throw new IllegalStateException("nothing to claim after " + claimed + " of " + count);
      }
      held.addAll(some);
      claimed += some.size();
    }
  }

  /** Acks timers for this time, or until no timer is left. Returns the acks per second. */
  private static double ackRate(DurableTimer scheduler, Queue<QueueFiring> held, int seconds)
      throws InterruptedException {
    AtomicLong acks = new AtomicLong();
    long begunNanos = System.nanoTime();
    long endNanos = begunNanos + TimeUnit.SECONDS.toNanos(seconds);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < ACKERS; i++) {
      Thread thread = new Thread(() -> ack(scheduler, held, endNanos, acks));
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    return acks.get() * 1e9 / (System.nanoTime() - begunNanos);
  }

  private static void ack(
      DurableTimer scheduler, Queue<QueueFiring> held, long endNanos, AtomicLong acks) {
    for (QueueFiring firing = held.poll(); firing != null; firing = held.poll()) {
      scheduler
          .async()
          .changeLease(LeaseChange.ack(firing.firing().fireId(), firing.leaseToken()))
          .toCompletableFuture()
          .join();
      acks.incrementAndGet();
      if (System.nanoTime() - endNanos > 0) {
        return;
      }
    }
  }
}
