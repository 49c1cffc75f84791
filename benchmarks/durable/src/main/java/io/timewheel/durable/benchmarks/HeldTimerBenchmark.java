// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.TransactionTimers;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.model.DurableTimerException;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;

/**
 * Measures how many other timers 64 callers schedule while a transaction of a user holds one timer.
 * Four more callers request that timer repeatedly. In one run, turns with that transaction
 * alternate with turns without it. Prints a table in Markdown.
 */
final class HeldTimerBenchmark {
  private static final int CALLERS = 64;
  private static final int POOL = 16;
  private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final String HELP =
      """
      benchmarks/durable/held [options]
        --server NAME  postgresql or mariadb alone (default: both)
        --seconds N    duration of each turn (default: 3)
        --rounds N     turns without and with the held timer (default: 11)
        --retry N      callers that ask for the held timer (default: 4)
      """;

  private final DurableTimer scheduler;
  private final AtomicLong numbers = new AtomicLong();
  private final AtomicInteger refusals = new AtomicInteger();
  private volatile boolean held;
  private volatile Histogram waits = new Histogram(LONGEST_NANOS, 3);
  private volatile boolean over;

  private HeldTimerBenchmark(DurableTimer scheduler) {
    this.scheduler = scheduler;
  }

  /** The figures of one turn. */
  private record Turn(double perSecond, double p99Millis, double maxMillis) {}

  public static void main(String[] args) throws Exception {
    Options options = Options.parse(HELP, List.of("help"), args);
    if (options.has("help")) {
      System.out.print(HELP);
      return;
    }
    System.out.println(
        "| | other schedules/s | p99, ms | longest, ms | with the held timer, of without |\n"
            + "|---|--:|--:|--:|--:|");
    for (ServerPlace.Server kind : ServerPlace.Server.values()) {
      if (options.names("server", kind.id())) {
        run(kind, options);
      }
    }
  }

  private static void run(ServerPlace.Server kind, Options options) throws Exception {
    try (DatabaseServer server = kind.start()) {
      ServerPlace place = new ServerPlace(kind, server);
      try (HikariDataSource pool = place.database().pool(POOL)) {
        JdbcTimerStore store =
            kind == ServerPlace.Server.POSTGRESQL
                ? JdbcTimerStore.postgresql(pool)
                : JdbcTimerStore.mariadb(pool);
        try (DurableTimer scheduler = DurableTimer.builder(store).handler("h", f -> {}).start();
            Connection user = place.database().connect()) {
          user.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
          user.setAutoCommit(false);
          new HeldTimerBenchmark(scheduler).run(kind.id(), store, user, options);
        }
      }
    }
  }

  private void run(String name, JdbcTimerStore store, Connection user, Options options)
      throws Exception {
    int seconds = options.number("seconds", 3);
    int rounds = options.number("rounds", 11);
    scheduler.schedule(spec("held"));
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < CALLERS; i++) {
      threads.add(new Thread(this::callForOthers));
    }
    for (int i = 0; i < options.number("retry", 4); i++) {
      threads.add(new Thread(this::callForHeld));
    }
    threads.forEach(Thread::start);
    List<Double> parts = new ArrayList<>();
    Turn unusedWarmUp = turn(seconds);
    for (int round = 1; round <= rounds; round++) {
      Turn without = turn(seconds);
      TransactionTimers.of(store).in(user).cancel("shop", "held");
      held = true;
      Turn with = turn(seconds);
      held = false;
      user.rollback();
      print(name + ", " + round + ", without", without, "");
      parts.add(with.perSecond / without.perSecond);
      print(name + ", " + round + ", with", with, percent(parts.get(round - 1)));
    }
    Collections.sort(parts);
    System.out.printf("| %s, median | | | | %s |%n", name, percent(parts.get(rounds / 2)));
    over = true;
    for (Thread thread : threads) {
      thread.join();
    }
    System.err.println(refusals + " calls for the held timer were refused");
  }

  private static String percent(double part) {
    return String.format("%.0f %%", 100 * part);
  }

  private static void print(String name, Turn turn, String part) {
    System.out.printf(
        "| %s | %,.0f | %.1f | %.0f | %s |%n",
        name, turn.perSecond, turn.p99Millis, turn.maxMillis, part);
  }

  private Turn turn(int seconds) throws InterruptedException {
    Histogram now = new Histogram(LONGEST_NANOS, 3);
    waits = now;
    long begunNanos = System.nanoTime();
    TimeUnit.SECONDS.sleep(seconds);
    synchronized (now) {
      waits = new Histogram(LONGEST_NANOS, 3);
      return new Turn(
          now.getTotalCount() * 1e9 / (System.nanoTime() - begunNanos),
          now.getValueAtPercentile(99) / 1e6,
          now.getMaxValue() / 1e6);
    }
  }

  private void callForOthers() {
    while (!over) {
      long beforeNanos = System.nanoTime();
      scheduler.schedule(spec("order-" + numbers.getAndIncrement()));
      long waitNanos = System.nanoTime() - beforeNanos;
      Histogram now = waits;
      synchronized (now) {
        now.recordValue(waitNanos);
      }
    }
  }

  /** Requests the held timer again as soon as the previous request was answered or refused. */
  private void callForHeld() {
    while (!over) {
      try {
        if (held) {
          scheduler.schedule(spec("held"));
        } else {
          TimeUnit.MILLISECONDS.sleep(10);
        }
      } catch (DurableTimerException e) {
        refusals.incrementAndGet();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private static TimerSpec spec(String id) {
    return TimerSpec.of("shop", id).after(Duration.ofDays(30)).handler("h");
  }
}
