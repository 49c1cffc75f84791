// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.HierarchicalWheelTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ManualTimeSourceTest {
  private static final Duration MILLI = Duration.ofMillis(1);
  private static final long MILLI_NANOS = MILLI.toNanos();

  private final ManualTimeSource clock = new ManualTimeSource();

  @Test
  void isZeroUntilItIsMoved() {
    assertThat(clock.nanoTime()).isZero();
    clock.advanceBy(MILLI);
    assertThat(clock.nanoTime()).isEqualTo(MILLI_NANOS);
    clock.advanceBy(Duration.ZERO);
    assertThat(clock.nanoTime()).isEqualTo(MILLI_NANOS);
    assertThat(clock).hasToString("ManualTimeSource(1000000 ns)");
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE - 1, Long.MAX_VALUE})
  void beginsAnywhereAndWrapsAround(long nanoTime) {
    ManualTimeSource clock = new ManualTimeSource(nanoTime);
    assertThat(clock.nanoTime()).isEqualTo(nanoTime);
    clock.advanceBy(MILLI);
    assertThat(clock.nanoTime() - nanoTime).isEqualTo(MILLI_NANOS);
  }

  @Test
  void goesForwardOnly() {
    assertThatThrownBy(() -> clock.advanceBy(Duration.ofNanos(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("duration: PT-0.000000001S (expected: zero or more)");
    assertThatThrownBy(() -> clock.advanceBy(null))
        .isInstanceOf(NullPointerException.class)
        .hasMessage("duration");
    assertThat(clock.nanoTime()).isZero();
  }

  @Test
  void goesNoFurtherThan292Years() {
    Duration end = Duration.ofNanos(Long.MAX_VALUE - 1);
    clock.advanceBy(end.minus(MILLI));
    for (Duration tooFar : List.of(MILLI.plusNanos(1), Duration.ofSeconds(Long.MAX_VALUE))) {
      assertThatThrownBy(() -> clock.advanceBy(tooFar))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("duration: " + tooFar + " (expected: at most PT0.001S");
    }
    clock.advanceBy(MILLI);
    assertThat(clock.nanoTime()).isEqualTo(Long.MAX_VALUE - 1);
  }

  @Test
  void doesNotParkUntilATimeThatIsReached() {
    clock.advanceBy(MILLI);
    clock.parkUntil(MILLI_NANOS, this);
    clock.parkUntil(0, this);
    clock.parkUntil(-1, this);
    assertThat(clock.nanoTime()).isEqualTo(MILLI_NANOS);
  }

  @Test
  void doesNotParkIfAnUnparkOrAnInterruptCameFirst() {
    LockSupport.unpark(Thread.currentThread());
    clock.parkUntil(MILLI_NANOS, this);
    Thread.currentThread().interrupt();
    clock.parkUntil(MILLI_NANOS, this);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void wakesOnlyThreadsThatItReaches() throws Exception {
    ManualTimeSource clock = new ManualTimeSource(Long.MAX_VALUE);
    Sleeper near = new Sleeper(clock, clock.nanoTime() + 2 * MILLI_NANOS);
    Sleeper far = new Sleeper(clock, clock.nanoTime() + 3 * MILLI_NANOS);
    clock.advanceBy(MILLI);
    clock.awaitParked(near.thread);
    clock.awaitParked(far.thread);
    int nearReturns = near.returns.get();
    int farReturns = far.returns.get();
    assertThat(nearReturns).isPositive(); // by awaitParked
    clock.advanceBy(MILLI);
    near.thread.join();
    assertThat(near.returns).hasValueGreaterThan(nearReturns);
    assertThat(far.returns).hasValue(farReturns);
    assertThat(far.thread.isAlive()).isTrue();
    clock.advanceBy(MILLI);
    far.thread.join();
  }

  /**
   * One thread parks while another moves the clock, in lockstep. A lost wake-up would make the test
   * hang.
   */
  @Test
  @SuppressWarnings("ThreadPriorityCheck") // the other thread may be waiting for this processor
  void losesNoWakeUp() throws Exception {
    int rounds = 2_000;
    AtomicInteger reached = new AtomicInteger();
    FutureTask<Void> follower =
        new FutureTask<>(
            () -> {
              for (int tick = 1; tick <= rounds; tick++) {
                while (clock.nanoTime() < tick) {
                  clock.parkUntil(tick, this);
                }
                reached.set(tick);
              }
            },
            null);
    Thread thread = new Thread(follower);
    thread.setDaemon(true);
    thread.start();
    for (int tick = 1; tick <= rounds; tick++) {
      clock.advanceBy(Duration.ofNanos(1));
      while (reached.get() < tick && !Thread.currentThread().isInterrupted()) {
        Thread.yield();
      }
    }
    assertThat(reached).hasValue(rounds);
    follower.get();
  }

  @Test
  void awaitParkedWaitsUntilTheThreadHasNothingToDo() throws Exception {
    List<Thread> workers = new ArrayList<>();
    HierarchicalWheelTimer timer =
        HierarchicalWheelTimer.builder()
            .timeSource(clock)
            .threadFactory(
                work -> {
                  workers.add(new Thread(work));
                  return workers.get(0);
                })
            .build();
    Thread worker = workers.get(0);
    clock.awaitParked(worker); // not started yet
    AtomicInteger runs = new AtomicInteger();
    for (int i = 1; i <= 2_000; i++) {
      // After the later timeout the thread sleeps; the earlier one must wake it.
      timer.newTimeout(timeout -> runs.incrementAndGet(), 1, TimeUnit.HOURS).cancel();
      timer.newTimeout(timeout -> runs.incrementAndGet(), 1, TimeUnit.MILLISECONDS);
      clock.advanceBy(MILLI);
      clock.awaitParked(worker);
      assertThat(runs).hasValue(i);
    }
    timer.stop();
    worker.join();
    clock.awaitParked(worker); // ended
  }

  @Test
  void aThreadCannotAwaitItself() {
    assertThatThrownBy(() -> clock.awaitParked(Thread.currentThread()))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> clock.awaitParked(null))
        .isInstanceOf(NullPointerException.class)
        .hasMessage("thread");
  }

  @Test
  void awaitParkedCanBeInterrupted() throws Exception {
    Sleeper sleeper = new Sleeper(clock, MILLI_NANOS);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> clock.awaitParked(sleeper.thread))
        .isInstanceOf(InterruptedException.class);
    clock.advanceBy(MILLI);
    sleeper.thread.join();
  }

  /** A thread that sleeps until a time, like a timer thread. */
  private static final class Sleeper implements Runnable {
    final Thread thread = new Thread(this);
    final AtomicInteger returns = new AtomicInteger();
    private final ManualTimeSource clock;
    private final long deadlineNanos;

    Sleeper(ManualTimeSource clock, long deadlineNanos) {
      this.clock = clock;
      this.deadlineNanos = deadlineNanos;
      thread.setDaemon(true);
      thread.start();
    }

    @Override
    public void run() {
      while (deadlineNanos - clock.nanoTime() > 0) {
        clock.parkUntil(deadlineNanos, this);
        returns.incrementAndGet();
      }
    }
  }
}
