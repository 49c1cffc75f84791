// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.Firing;
import io.timewheel.durable.TimerFilter;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerList;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.RecordingStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The JVM that is killed. It says on its standard output how far it is, and closes in good order
 * when its standard input ends, as it does with the death of its parent.
 */
public final class Child {
  /** What a child says. */
  enum Mark {
    OPENING,
    OPENED,
    STARTED,
    CLOSING,
    CLOSED
  }

  private static final int CALLERS = 4;
  private static final long DRAIN_MILLIS = 60_000;
  private static final Set<TimerState> AT_REST =
      EnumSet.of(TimerState.DONE, TimerState.CANCELLED, TimerState.SET_ASIDE);

  private final Settings settings;
  private final Log log;
  private final InstantSource clock;
  private final Set<TimerKey> begun = ConcurrentHashMap.newKeySet();

  /**
   * What a child is told.
   *
   * @param store the directory of the store
   * @param log the file of the log
   * @param round its number
   * @param seed of its random numbers
   * @param fault the fault that is put into its store
   * @param skewMillis how wrong its clock may be, both ways
   * @param verify whether to verify the store first
   * @param drain whether to schedule nothing, and to wait until all has fired
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
    Random random = new Random(settings.seed);
    DurableTimer timer =
        DurableTimer.builder(new RecordingStore(store, log::completed))
            .handler(Load.HANDLER, firing -> handle(firing, random))
            .clock(clock)
            .start();
    Load load = new Load(timer, log, clock, settings.skewMillis, settings.round);
    if (settings.drain) {
      load.startConsumer(0);
      say(Mark.STARTED);
      drain(timer, load);
    } else {
      load.startCallers(CALLERS, settings.seed + 10);
      load.startConsumer(settings.seed);
      say(Mark.STARTED);
      while (System.in.read() >= 0) {
        // Whatever it is, it does not end the input.
      }
    }
    say(Mark.CLOSING);
    load.end();
    timer.close();
    say(Mark.CLOSED);
  }

  private void handle(Firing firing, Random random) throws InterruptedException {
    log.began(
        firing.key(),
        firing.version(),
        firing.scheduledAt().toEpochMilli(),
        firing.attempt(),
        System.currentTimeMillis(),
        ByteBuffer.wrap(firing.payload()).getInt());
    if (settings.drain) {
      begun.add(firing.key());
      return;
    }
    switch (random.nextInt(40)) {
      case 0, 1, 2, 3 -> throw new IllegalStateException("no luck");
      case 4 -> Thread.sleep(random.nextInt(50));
      case 5 -> {
        if (!firing.id().startsWith(Story.RATE)) {
          // Never to an earlier time, also if the clock has jumped back.
          long fromMillis = Math.max(firing.scheduledAt().toEpochMilli(), clock.millis());
          firing.reschedule(Instant.ofEpochMilli(fromMillis + 1 + random.nextInt(500)));
        }
      }
      default -> {}
    }
  }

  /** Lets everything fire, and logs what is left: finished timers, and those set aside. */
  private void drain(DurableTimer timer, Load load) throws InterruptedException {
    long end = System.currentTimeMillis() + DRAIN_MILLIS;
    while (!isAtRest(timer) && System.currentTimeMillis() < end) {
      each(
          timer,
          EnumSet.complementOf(EnumSet.copyOf(AT_REST)),
          info -> {
            TimerKey key = info.key();
            if (info.state() == TimerState.PAUSED) {
              timer.resume(key.namespace(), key.id());
            }
            if (key.id().startsWith(Story.RATE) && begun.contains(key)) {
              load.cancel(key); // it has gone on after the last kill
            }
          });
      Thread.sleep(50);
    }
    each(timer, EnumSet.allOf(TimerState.class), info -> log.left(info.key(), info.state()));
    log.end();
  }

  private static boolean isAtRest(DurableTimer timer) {
    for (Map<TimerState, Long> counts : timer.counts().values()) {
      if (!AT_REST.containsAll(counts.keySet())) {
        return false;
      }
    }
    return true;
  }

  private interface Visit {
    void visit(TimerInfo timer);
  }

  private static void each(DurableTimer timer, Set<TimerState> states, Visit visit) {
    @Nullable String page = null;
    do {
      TimerList list = timer.list(TimerFilter.all().states(states), 1_000, page);
      list.timers().forEach(visit::visit);
      page = list.nextPage().orElse(null);
    } while (page != null);
  }
}
