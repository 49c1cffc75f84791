// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerStats;
import io.timewheel.TimerTask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.function.Executable;

/**
 * What the tests of the contract share: a timer under test, the time that has passed, and the
 * assertions that make a test read as a time script.
 *
 * <p>The contract is a chain of classes, one for each group of promises, so that each can be read
 * by itself and all are tests of the class that extends the contract: it is selected, run and
 * reported under its own name, whatever the tool makes of nested classes that are inherited.
 */
abstract class ContractFixture {
  static final Duration TICK = millis(1);

  private final List<Timer> timers = new ArrayList<>();
  private final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
  private Duration elapsed = Duration.ZERO;

  // What a timer brings to the contract

  /**
   * Makes a timer that is to be held to the contract. Called on the thread of the test, for a few
   * tests many times. The test stops all timers that it was given.
   *
   * @param settings what the test asks of the timer
   * @return a new timer, its clock standing still until {@link #advance}
   */
  protected abstract Timer newTimer(TimerSettings settings);

  /**
   * Lets time pass for all timers that this instance has made, stopped ones included, and returns
   * when every task that is then due has been run, or handed to the executor that the settings
   * name. Called by one thread at a time, not always that of the test; other threads may start,
   * move and cancel timeouts and stop the timer meanwhile, and only what was started before the
   * call counts.
   *
   * @param duration how long; zero only runs what is due
   * @throws InterruptedException if the test was interrupted because it took too long
   */
  protected abstract void advance(Duration duration) throws InterruptedException;

  // The timer under test

  /** A tick of 1 ms, no limit, no executor; what tasks throw fails the test. */
  final TimerSettings settings() {
    return new TimerSettings(TICK, 0, null, (timeout, error) -> errors.add(error));
  }

  final Timer timer() {
    return timer(settings());
  }

  final Timer timer(TimerSettings settings) {
    Timer timer = newTimer(settings);
    timers.add(timer);
    return timer;
  }

  @AfterEach
  void allAccountsBalanceAndNothingWasThrown() {
    for (Timer timer : timers) {
      assertBalanced(timer);
      timer.close();
      assertBalanced(timer);
      assertEquals(0, timer.pendingTimeouts(), "pending after close()");
    }
    Throwable error = errors.poll();
    if (error != null) {
      throw new AssertionError("a task or callback threw " + error, error);
    }
  }

  private static void assertBalanced(Timer timer) {
    TimerStats stats = timer.stats();
    assertEquals(timer.pendingTimeouts(), stats.pending(), () -> "pending in " + stats);
    assertEquals(
        stats.started(),
        stats.expired() + stats.cancelled() + stats.pending(),
        () -> "started = expired + cancelled + pending in " + stats);
  }

  // Time, counted from the start of the test

  final Duration elapsed() {
    return elapsed;
  }

  /** Lets time pass until a moment of the test, and everything that is due by then run. */
  final void advanceUntil(Duration moment) {
    advanceBy(moment.minus(elapsed));
  }

  final void advanceBy(Duration duration) {
    try {
      advance(duration);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted: the test took too long", e);
    }
    elapsed = elapsed.plus(duration);
  }

  /** Lets time pass tick by tick, so that what tasks start is counted from the tick they run at. */
  final void advanceTickwiseUntil(Duration moment) {
    while (elapsed.plus(TICK).compareTo(moment) <= 0) {
      advanceBy(TICK);
    }
    advanceUntil(moment);
  }

  static Duration millis(long millis) {
    return Duration.ofMillis(millis);
  }

  static Duration micros(long micros) {
    return Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(micros));
  }

  // Assertions

  static Timeout startIn(Timer timer, Duration delay, TimerTask task) {
    Timeout timeout = timer.newTimeout(task, delay);
    assertNotNull(timeout, "newTimeout() returned null");
    return timeout;
  }

  static void assertPending(Timeout timeout) {
    assertState(timeout, false, false, 0, 0);
  }

  static void assertRan(Timeout timeout) {
    assertState(timeout, true, false, 1, 0);
  }

  static void assertCancelled(Timeout timeout) {
    assertState(timeout, false, true, 0, 1);
  }

  private static void assertState(
      Timeout timeout, boolean expired, boolean cancelled, int runs, int cancellations) {
    assertEquals(expired, timeout.isExpired(), () -> "isExpired() of " + timeout);
    assertEquals(cancelled, timeout.isCancelled(), () -> "isCancelled() of " + timeout);
    if (timeout.task() instanceof Probe probe) {
      assertEquals(runs, probe.runs(), () -> "runs of the task of " + timeout);
      assertEquals(cancellations, probe.cancellations(), () -> "cancelled() calls of " + timeout);
      assertTrue(runs + cancellations == 0 || probe.given() == timeout, "given another timeout");
    }
  }

  /** Asserts that a call is refused, with a message that names what it refuses. */
  static void assertRefused(
      Class<? extends RuntimeException> type, Executable call, String... named) {
    RuntimeException refusal = assertThrows(type, call);
    String message = String.valueOf(refusal.getMessage());
    for (String name : named) {
      assertTrue(message.contains(name), () -> "\"" + message + "\" names " + name);
    }
  }

  static void assertStopped(Timer timer) {
    assertTrue(timer.isStopped(), "isStopped()");
    assertRefused(
        IllegalStateException.class, () -> timer.newTimeout(new Probe(), 1, TimeUnit.MILLISECONDS));
  }
}
