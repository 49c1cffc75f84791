// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static java.util.Objects.requireNonNull;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.NodeStores;
import io.timewheel.durable.jdbc.TransactionTimers;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.proof.Child.Mark;
import io.timewheel.durable.testkit.RecordingStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A node of a cluster, in its own JVM. It works until its standard input ends, and then leaves the
 * cluster cleanly. While the database is unavailable, it waits.
 */
public final class ClusterNode {
  private static final int IN_TRANSACTION = 3;
  private static final int CONNECTIONS = 6 + IN_TRANSACTION;
  private static final int CALLERS = 3;
  private static final int PAUSE_MILLIS = 15;
  private static final int TIMEOUT_MILLIS = 2_000;
  private static final long CLOCK_JUMPS_EVERY_MILLIS = 20_000;

  private final Settings settings;
  private final Log log;

  /**
   * The settings of a node.
   *
   * @param database the database of the timers
   * @param log the file of the log
   * @param number its number
   * @param seed the seed of its random numbers
   * @param fault the fault that is injected into its store
   * @param skewMillis the largest error of its clock, in both directions
   * @param errorMillis the largest error of its estimate of the database's time
   * @param drain whether to schedule nothing, and to wait until all timers have fired
   */
  record Settings(
      Database database,
      Path log,
      int number,
      long seed,
      String fault,
      int skewMillis,
      int errorMillis,
      boolean drain) {
    static Settings of(String[] args) {
      return new Settings(
          new Database(args[0], args[1], args[2]),
          Path.of(args[3]),
          Integer.parseInt(args[4]),
          Long.parseLong(args[5]),
          args[6],
          Integer.parseInt(args[7]),
          Integer.parseInt(args[8]),
          Boolean.parseBoolean(args[9]));
    }

    String[] toArgs() {
      return new String[] {
        database.url(),
        database.user(),
        database.password(),
        log.toString(),
        Integer.toString(number),
        Long.toString(seed),
        fault,
        Integer.toString(skewMillis),
        Integer.toString(errorMillis),
        Boolean.toString(drain)
      };
    }
  }

  private @Nullable TransactionTimers transactions;
  private final CountDownLatch inputEnded = new CountDownLatch(1);

  private ClusterNode(Settings settings, Log log) {
    this.settings = settings;
    this.log = log;
  }

  public static void main(String[] args) throws IOException, InterruptedException {
    Settings settings = Settings.of(args);
    try (Log log = new Log(settings.log)) {
      new ClusterNode(settings, log).run();
    }
    System.exit(0);
  }

  /** Returns the name of a node in the database. */
  static String name(int number) {
    return "node-" + number;
  }

  private static void say(Mark mark) {
    System.out.println(mark);
    System.out.flush();
  }

  private void run() throws IOException, InterruptedException {
    Thread reader = new Thread(this::readInput, "input");
    reader.setDaemon(true);
    reader.start();
    try (HikariDataSource pool = settings.database.pool(CONNECTIONS)) {
      pool.setConnectionTimeout(TIMEOUT_MILLIS);
      LoggedHandler handler =
          new LoggedHandler(
              log, InstantSource.system(), settings.drain ? null : new Random(settings.seed));
      say(Mark.OPENING);
      DurableTimer scheduler = start(pool, handler);
      if (scheduler == null) {
        return;
      }
      Load load =
          new Load(
              scheduler,
              log,
              InstantSource.system(),
              settings.errorMillis,
              settings.number,
              new Load.Manners(PAUSE_MILLIS, true, true));
      load.startConsumer(settings.drain ? 0 : settings.seed);
      if (settings.drain) {
        say(Mark.STARTED);
        new Drain(scheduler, load, log, handler, true).run();
      } else {
        load.startCallers(CALLERS, settings.seed + 10);
        load.startUser(new UserCalls(requireNonNull(transactions), pool), settings.seed + 20);
        say(Mark.STARTED);
        inputEnded.await();
      }
      say(Mark.CLOSING);
      load.end();
      scheduler.close();
      say(Mark.CLOSED);
    }
  }

  private void readInput() {
    try {
      while (System.in.read() >= 0) {
        // Ignore the input until it ends.
      }
    } catch (IOException e) {
      // An error of the input counts as its end.
    }
    inputEnded.countDown();
  }

  /** Tries to start until it succeeds. Returns null if the node must end before that. */
  private @Nullable DurableTimer start(HikariDataSource pool, LoggedHandler handler)
      throws InterruptedException {
    InstantSource clock =
        new WrongClock(settings.skewMillis, CLOCK_JUMPS_EVERY_MILLIS, new Random(settings.seed));
    boolean outside = List.of(settings.fault.split("\\+", -1)).contains(Effects.OUTSIDE);
    Effects effects =
        new Effects(
            log, settings.drain ? null : new Random(settings.seed + 1), outside ? pool : null);
    while (true) {
      try {
        JdbcTimerStore store =
            NodeStores.open(
                DatabaseKind.of(settings.database).builder(pool), name(settings.number), clock);
        transactions = TransactionTimers.of(store);
        return DurableTimer.builder(
                new RecordingStore(FaultyStores.seed(settings.fault, store), log::finished))
            .handler(Load.HANDLER, handler)
            .finishingHandler(Load.IN_TRANSACTION, transactions.handler(effects), IN_TRANSACTION)
            .clock(clock)
            .start();
      } catch (RuntimeException e) {
        System.err.println(name(settings.number) + " cannot start yet: " + e);
        if (inputEnded.await(200, TimeUnit.MILLISECONDS)) {
          return null;
        }
      }
    }
  }
}
