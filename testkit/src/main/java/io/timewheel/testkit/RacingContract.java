// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static io.timewheel.testkit.Contracts.SEED;
import static io.timewheel.testkit.Contracts.TICK;
import static io.timewheel.testkit.Contracts.assertCancelled;
import static io.timewheel.testkit.Contracts.assertRan;
import static io.timewheel.testkit.Contracts.micros;
import static io.timewheel.testkit.Contracts.millis;
import static io.timewheel.testkit.Contracts.startIn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The contract under races: every timeout has exactly one outcome. The tests use real threads,
 * whose order is not controlled, and the test thread advances the time.
 */
interface RacingContract extends TimeScript {
  @Test
  @Tag("promise-11")
  default void aTimeoutStartedWhileTheTimerStopsRunsOrIsRefusedOrReturned() throws Exception {
    ExecutorService racers = racers();
    for (int round = 0; round < 300; round++) {
      Timer timer = timer();
      Queue<Timeout> accepted = new ConcurrentLinkedQueue<>();
      Callable<?> starting =
          () -> {
            try {
              for (int i = 0; i < 1_000; i++) {
                accepted.add(timer.newTimeout(new Probe(), i % 3, TimeUnit.MILLISECONDS));
              }
            } catch (IllegalStateException e) {
              return e; // refused
            }
            return null;
          };
      int warmUp = round % 30;
      List<Future<?>> race =
          race(
              racers,
              starting,
              starting,
              () -> {
                while (accepted.size() < warmUp) {
                  Thread.onSpinWait();
                }
                return timer.stop();
              });
      advanceBy(TICK);
      advanceBy(TICK);
      Set<?> returned = (Set<?>) race.get(2).get();
      race.get(0).get();
      race.get(1).get();
      assertEquals(0, timer.pendingTimeouts());
      int cancelled = 0;
      for (Timeout timeout : accepted) {
        if (returned.contains(timeout)) {
          assertCancelled(timeout);
          cancelled++;
        } else {
          assertRan(timeout);
        }
      }
      assertEquals(
          returned.size(), cancelled, "returned, but unknown to the thread that started it");
      assertEquals(accepted.size(), timer.stats().started());
      assertEquals(cancelled, timer.stats().cancelled());
    }
  }

  @Test
  @Tag("promise-12")
  default void aTimeoutCancelledWhileItExpiresHasOneOutcome() throws Exception {
    Timer timer = timer();
    AtomicInteger cancels = new AtomicInteger();
    List<Timeout> timeouts =
        raceAgainstTime(
            timer,
            timeout -> {
              if (timeout.cancel()) {
                cancels.incrementAndGet();
              }
            });
    for (Timeout timeout : timeouts) {
      if (timeout.isCancelled()) {
        assertCancelled(timeout);
      } else {
        assertRan(timeout);
      }
    }
    assertEquals(timeouts.stream().filter(Timeout::isCancelled).count(), cancels.get());
    assertEquals(cancels.get(), timer.stats().cancelled());
    assertEquals(0, timer.pendingTimeouts());
  }

  @Test
  @Tag("promise-13")
  default void aTimeoutMovedWhileItExpiresRunsOnce() throws Exception {
    Timer timer = timer();
    AtomicInteger moves = new AtomicInteger();
    List<Timeout> timeouts =
        raceAgainstTime(
            timer,
            timeout -> {
              if (timeout.reschedule(millis(500))) {
                moves.incrementAndGet();
              }
            });
    assertEquals(moves.get(), timer.stats().rescheduled());
    advanceBy(millis(500));
    timeouts.forEach(Contracts::assertRan);
    timeouts.forEach(timeout -> assertFalse(timeout.reschedule(millis(1))));
  }

  /**
   * Races two threads against the time. While the test thread advances to a tick, they apply an
   * action to all timeouts of that tick. They also apply it to half of the timeouts of the next
   * tick. The test thread cannot have reached the next tick yet, so each side wins some races.
   */
  private List<Timeout> raceAgainstTime(Timer timer, Consumer<Timeout> action) throws Exception {
    int ticks = 200;
    int perTick = 50;
    List<Timeout> timeouts = new ArrayList<>();
    for (int i = 0; i < ticks * perTick; i++) {
      timeouts.add(startIn(timer, millis(1 + i / perTick), new Probe()));
    }
    CyclicBarrier round = new CyclicBarrier(3);
    Callable<?> acting =
        () -> {
          for (int begin = 0; begin < timeouts.size(); begin += perTick) {
            round.await();
            int end = Math.min(begin + perTick + perTick / 2, timeouts.size());
            timeouts.subList(begin, end).forEach(action);
          }
          return null;
        };
    List<Future<?>> race = race(racers(), acting, acting);
    for (int tick = 0; tick < ticks; tick++) {
      round.await();
      advanceBy(TICK);
    }
    await(race);
    return timeouts;
  }

  @Test
  @Tag("promise-18")
  default void theLimitIsExactForAnyNumberOfThreads() throws Exception {
    int limit = 10;
    ExecutorService racers = racers();
    for (int round = 0; round < 100; round++) {
      Timer timer = timer(settings().withLimit(limit));
      AtomicInteger accepted = new AtomicInteger();
      Callable<?> starting =
          () -> {
            for (int i = 0; i < limit; i++) {
              if (tryStart(timer) != null) {
                accepted.incrementAndGet();
              }
            }
            return null;
          };
      await(race(racers, starting, starting, starting));
      assertEquals(limit, accepted.get());
      assertEquals(limit, timer.pendingTimeouts());
      assertEquals(limit, timer.stop().size());
    }
  }

  @Test
  default void theLimitIsNeverExceededAndAlwaysGivenBack() throws Exception {
    int limit = 4;
    Timer timer = timer(settings().withLimit(limit));
    AtomicInteger held = new AtomicInteger();
    Callable<?> churning =
        () -> {
          for (int i = 0; i < 5_000; i++) {
            Timeout timeout = tryStart(timer);
            Timeout second = tryStart(timer);
            for (Timeout started : new Timeout[] {timeout, second}) {
              if (started != null) {
                assertTrue(held.incrementAndGet() <= limit, "more pending than the limit");
              }
            }
            for (Timeout started : new Timeout[] {timeout, second}) {
              if (started != null) {
                held.decrementAndGet();
                assertTrue(started.cancel());
              }
            }
          }
          return null;
        };
    await(race(racers(), churning, churning, churning));
    assertEquals(0, timer.pendingTimeouts());
    for (int i = 0; i < limit; i++) {
      startIn(timer, millis(10), new Probe());
    }
    assertTrue(tryStart(timer) == null, "one more than the limit");
  }

  private static @Nullable Timeout tryStart(Timer timer) {
    try {
      return timer.newTimeout(new Probe(), Duration.ofHours(1));
    } catch (RejectedExecutionException e) {
      return null;
    }
  }

  @Test
  @Tag("promise-11")
  default void
      manyThreadsStartMoveAndCancelWhileTimePassesAndEachTimeoutHasOneOutcomeAndIsNotEarly()
          throws Exception {
    Timer timer = timer();
    Queue<Timeout> all = new ConcurrentLinkedQueue<>();
    AtomicInteger early = new AtomicInteger();
    int threads = 3;
    AtomicInteger running = new AtomicInteger(threads);
    TimerTask punctual =
        timeout -> {
          if (timeout.remaining(TimeUnit.NANOSECONDS) > 0) {
            early.incrementAndGet();
          }
        };
    List<Callable<?>> churning = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      long seed = SEED + thread;
      churning.add(
          () -> {
            try {
              churn(timer, new Random(seed), punctual, all);
            } finally {
              running.decrementAndGet();
            }
            return null;
          });
    }
    List<Future<?>> race = race(racers(), churning.toArray(new Callable<?>[0]));
    while (running.get() > 0) {
      advanceBy(micros(700));
    }
    await(race);
    advanceBy(millis(300));
    assertEquals(0, timer.pendingTimeouts());
    assertEquals(0, early.get(), "tasks that ran before their deadline");
    assertEquals(all.size(), timer.stats().started());
    for (Timeout timeout : all) {
      if (timeout.isCancelled()) {
        assertCancelled(timeout);
      } else {
        assertRan(timeout);
      }
    }
  }

  /** Starts timeouts, and moves or cancels some of them. */
  private static void churn(Timer timer, Random random, TimerTask task, Queue<Timeout> all) {
    List<Timeout> own = new ArrayList<>();
    for (int i = 0; i < 6_000; i++) {
      Duration delay = Duration.ofNanos(random.nextInt(100_000_000));
      Timeout timeout = startIn(timer, delay, new Probe(task));
      own.add(timeout);
      all.add(timeout);
      Timeout other = own.get(random.nextInt(own.size()));
      switch (random.nextInt(4)) {
        case 0 -> other.cancel();
        case 1 -> other.reschedule(Duration.ofNanos(random.nextInt(200_000_000)));
        default -> {}
      }
    }
  }

  private ExecutorService racers() {
    ExecutorService racers = Executors.newCachedThreadPool();
    atEnd(racers::shutdownNow);
    return racers;
  }

  /** Starts some threads at the same time. */
  private static List<Future<?>> race(ExecutorService racers, Callable<?>... runners) {
    CyclicBarrier start = new CyclicBarrier(runners.length);
    List<Future<?>> futures = new ArrayList<>();
    for (Callable<?> runner : runners) {
      futures.add(
          racers.submit(
              () -> {
                start.await();
                return runner.call();
              }));
    }
    return futures;
  }

  private static void await(List<Future<?>> race) throws Exception {
    for (Future<?> runner : race) {
      runner.get();
    }
  }
}
