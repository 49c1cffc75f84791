// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.RecordingStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Random;

/**
 * The JVM that is killed. It prints its progress to its standard output. It closes cleanly when its
 * standard input ends, as it does when its parent dies.
 */
public final class Child {
  /** The progress marks that a child prints. */
  enum Mark {
    OPENING,
    OPENED,
    STARTED,
    CLOSING,
    CLOSED
  }

  private static final int CALLERS = 4;

  private final Settings settings;
  private final Log log;
  private final InstantSource clock;

  /**
   * The settings of a child.
   *
   * @param store the directory of the store
   * @param log the file of the log
   * @param round its number
   * @param seed the seed of its random numbers
   * @param fault the fault that is put into its store
   * @param skewMillis the largest error of its clock, in both directions
   * @param verify whether to verify the store first
   * @param drain whether to schedule nothing, and to wait until all timers have fired
   */
  record Settings(
      Path store,
      Path log,
      int round,
      long seed,
      String fault,
      int skewMillis,
      boolean verify,
      boolean drain) {
    static Settings of(String[] args) {
      return new Settings(
          Path.of(args[0]),
          Path.of(args[1]),
          Integer.parseInt(args[2]),
          Long.parseLong(args[3]),
          args[4],
          Integer.parseInt(args[5]),
          Boolean.parseBoolean(args[6]),
          Boolean.parseBoolean(args[7]));
    }

    String[] toArgs() {
      return new String[] {
        store.toString(),
        log.toString(),
        Integer.toString(round),
        Long.toString(seed),
        fault,
        Integer.toString(skewMillis),
        Boolean.toString(verify),
        Boolean.toString(drain)
      };
    }
  }

  private Child(Settings settings, Log log) {
    this.settings = settings;
    this.log = log;
    clock = new WrongClock(settings.skewMillis, new Random(settings.seed));
  }

  public static void main(String[] args) throws IOException, InterruptedException {
    Settings settings = Settings.of(args);
    try (Log log = new Log(settings.log)) {
      new Child(settings, log).run();
    }
    System.exit(0);
  }

  private static void say(Mark mark) {
    System.out.println(mark);
    System.out.flush();
  }

  private void run() throws IOException, InterruptedException {
    say(Mark.OPENING);
    if (settings.verify) {
      Stores.verify(settings.store).forEach(log::violation);
    }
    TimerStore store = Stores.open(settings.store, settings.fault);
    say(Mark.OPENED);
    LoggedHandler handler =
        new LoggedHandler(log, clock, settings.drain ? null : new Random(settings.seed));
    DurableTimer scheduler =
        DurableTimer.builder(new RecordingStore(store, log::completed))
            .handler(Load.HANDLER, handler)
            .clock(clock)
            .start();
    Load load =
        new Load(scheduler, log, clock, settings.skewMillis, settings.round, Load.Manners.EAGER);
    if (settings.drain) {
      load.startConsumer(0);
      say(Mark.STARTED);
      new Drain(scheduler, load, log, handler, false).run();
    } else {
      load.startCallers(CALLERS, settings.seed + 10);
      load.startConsumer(settings.seed);
      say(Mark.STARTED);
      while (System.in.read() >= 0) {
        // No error may end the input.
      }
    }
    say(Mark.CLOSING);
    load.end();
    scheduler.close();
    say(Mark.CLOSED);
  }
}
