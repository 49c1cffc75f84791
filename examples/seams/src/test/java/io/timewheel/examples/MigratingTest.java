// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import io.timewheel.concurrent.WheelScheduledExecutor;
import io.timewheel.pattern.Expirations;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Verifies the code and the statements about this library in docs/migrate/memory.md, except those
 * about the adapters. DocumentationTest compares the code.
 */
class MigratingTest {
  private final ManualTimer timer = ManualTimer.create();
  private final List<String> said = new ArrayList<>();

  // java.util.Timer

  @Test
  void aLateTaskCanComputeItsLag() {
    timer.newTimeout(
        timeout -> {
          long lateMillis = -timeout.remaining(MILLISECONDS); // the time since it was due
          say("late by " + lateMillis + " ms");
        },
        30,
        TimeUnit.SECONDS);

    timer.timeSource().advanceBy(Duration.ofMillis(30_007)); // the machine stalled
    timer.poll();
    assertThat(said).containsExactly("late by 7 ms");
  }

  @Test
  void stopReturnsTimeoutsThatHaveNotRun() {
    Timeout timeout = timer.newTimeout(t -> say("never"), 1, MINUTES);

    Set<Timeout> cancelled = timer.stop();

    assertThat(cancelled).containsExactly(timeout);
    assertThat(timeout.isCancelled()).isTrue();
  }

  // ScheduledThreadPoolExecutor

  @Test
  void aPoolOfFourThreads() throws Exception {
    ScheduledExecutorService scheduler =
        WheelScheduledExecutor.builder().ownExecutor(Executors.newFixedThreadPool(4)).build();

    assertThat(scheduler.schedule(() -> "ran", 1, MILLISECONDS).get()).isEqualTo("ran");
    scheduler.shutdown();
    assertThat(scheduler.awaitTermination(1, MINUTES)).isTrue();
  }

  @Test
  void aCancelledTaskIsRemoved() {
    ScheduledExecutorService scheduler = scheduler();
    ScheduledFuture<?> future = scheduler.schedule(() -> say("never"), 1, TimeUnit.HOURS);
    assertThat(timer.pendingTimeouts()).isEqualTo(1);

    future.cancel(false);

    assertThat(timer.pendingTimeouts()).isZero();
  }

  /** One thread per processor, at least two, or a virtual thread for each run. */
  @Test
  void createRunsTasksAtTheSameTime() throws Exception {
    ScheduledExecutorService scheduler = WheelScheduledExecutor.create();
    CyclicBarrier both = new CyclicBarrier(2);
    Future<Integer> one = scheduler.submit(() -> both.await());
    Future<Integer> other = scheduler.submit(() -> both.await());

    assertThat(one.get() + other.get()).isEqualTo(1); // the barrier's indexes: 0 and 1
    scheduler.shutdown();
  }

  @Test
  void aCancelledTaskThatWaitsForABusyPoolStaysInItsQueue() {
    List<Runnable> pool = new ArrayList<>(); // busy
    ScheduledExecutorService scheduler =
        WheelScheduledExecutor.builder().timer(timer).executor(pool::add).build();
    ScheduledFuture<?> future = scheduler.schedule(() -> say("never"), 1, MILLISECONDS);
    timer.advanceBy(Duration.ofMillis(1));

    future.cancel(false);

    assertThat(pool).hasSize(1);
    pool.get(0).run();
    assertThat(said).isEmpty();
  }

  @Test
  void ratesBelowATickComeInBursts() {
    List<Duration> atRate = new ArrayList<>();
    List<Duration> withDelay = new ArrayList<>();
    ScheduledFuture<?> rate =
        scheduler().scheduleAtFixedRate(() -> atRate.add(timer.elapsed()), 250, 250, MICROSECONDS);
    ScheduledFuture<?> delay =
        scheduler()
            .scheduleWithFixedDelay(() -> withDelay.add(timer.elapsed()), 250, 250, MICROSECONDS);

    timer.advanceBy(Duration.ofMillis(2));

    Duration first = Duration.ofMillis(1);
    Duration second = Duration.ofMillis(2);
    assertThat(atRate).containsExactly(first, first, first, first, second, second, second, second);
    assertThat(withDelay).containsExactly(first, second);
    assertThat(rate.cancel(false)).isTrue();
    assertThat(delay.cancel(false)).isTrue();
  }

  // DelayQueue

  @Test
  void ordersThatAreNotPaidInTime() {
    Expirations<String, Order> unpaid =
        Expirations.builder(timer, (String id, Order order) -> order.cancel())
            .executor(Runnable::run)
            .build();
    Order paid = new Order("1");
    Order forgotten = new Order("2");
    unpaid.add(paid.id, paid, Duration.ofMinutes(15));
    unpaid.add(forgotten.id, forgotten, Duration.ofMinutes(15));

    assertThat(unpaid.complete(paid.id)).isSameAs(paid); // null if it had expired
    timer.advanceBy(Duration.ofMinutes(15));

    assertThat(said).containsExactly("order 2 was cancelled");
    assertThat(unpaid.complete(forgotten.id)).isNull();
  }

  // Quartz

  @Test
  void aPeriodicTaskThatContinuesAfterARunThrows() {
    ScheduledExecutorService scheduler = scheduler();
    ScheduledFuture<?> reports =
        scheduler.scheduleAtFixedRate(
            () -> {
              try {
                report();
              } catch (RuntimeException e) {
                say("failed: " + e.getMessage()); // otherwise, there would be no further run
              }
            },
            10,
            10,
            TimeUnit.SECONDS);

    timer.advanceBy(Duration.ofSeconds(20));
    assertThat(said).containsExactly("failed: no report", "failed: no report");
    assertThat(reports.cancel(false)).isTrue();
  }

  @Test
  void aPeriodicTaskEndsWhenARunThrows() {
    ScheduledFuture<?> future =
        scheduler().scheduleAtFixedRate(MigratingTest::report, 10, 10, TimeUnit.SECONDS);

    timer.advanceBy(Duration.ofSeconds(20));

    assertThat(future.isDone()).isTrue();
    assertThatThrownBy(future::get).hasRootCauseMessage("no report");
    assertThat(timer.pendingTimeouts()).isZero();
  }

  @Test
  @SuppressWarnings("FutureReturnValueIgnored") // they continue forever
  void missedRunsAreCaughtUpOrSkipped() {
    WheelScheduledExecutor.Builder builder = WheelScheduledExecutor.builder().timer(timer);
    builder
        .executor(Runnable::run)
        .build()
        .scheduleAtFixedRate(() -> say("made up"), 1, 1, MINUTES);
    builder.skipMissedRuns(true).build().scheduleAtFixedRate(() -> say("skipped"), 1, 1, MINUTES);

    timer.timeSource().advanceBy(Duration.ofSeconds(210)); // the machine stalled
    timer.poll();

    assertThat(said).containsOnly("made up", "skipped").filteredOn("skipped"::equals).hasSize(1);
    assertThat(said).filteredOn("made up"::equals).hasSize(3);
  }

  @Test
  void aJobThatRunsThreeTimes() {
    record Repeated(Runnable job, Duration interval, int runs) implements TimerTask {
      @Override
      public void run(Timeout timeout) {
        if (runs > 1) {
          timeout.timer().newTimeout(new Repeated(job, interval, runs - 1), interval);
        }
        job.run();
      }
    }

    timer.newTimeout(new Repeated(() -> say("run"), Duration.ofSeconds(10), 3), Duration.ZERO);

    timer.advanceBy(Duration.ofHours(1));
    assertThat(said).containsExactly("run", "run", "run");
  }

  // Kafka

  @Test
  void tasksOnAThreadOfTheirOwn() throws Exception {
    ExecutorService executor = Executors.newSingleThreadExecutor();
    Timer purgatory = HierarchicalWheelTimer.builder().name("purgatory").executor(executor).build();

    executor.submit(() -> {}).get();
    purgatory.newTimeout(timeout -> executor.shutdown(), 1, MILLISECONDS);
    assertThat(executor.awaitTermination(1, MINUTES)).isTrue();
    assertThat(purgatory.stop()).isEmpty();
  }

  private ScheduledExecutorService scheduler() {
    return WheelScheduledExecutor.builder().timer(timer).executor(Runnable::run).build();
  }

  private void say(String text) {
    said.add(text);
  }

  private static void report() {
    throw new IllegalStateException("no report");
  }

  private final class Order {
    final String id;

    Order(String id) {
      this.id = id;
    }

    void cancel() {
      say("order " + id + " was cancelled");
    }
  }
}
