// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.timewheel.Timer;
import io.timewheel.TimerStats;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/**
 * The contract of {@link io.timewheel.Timer}, as JUnit tests. To test a timer, extend this class,
 * make timers and advance the time.
 *
 * <pre>{@code
 * class MyTimerTest extends TimerContract {
 *   private final ManualTimeSource clock = new ManualTimeSource();
 *   private final List<MyTimer> timers = new ArrayList<>();
 *
 *   @Override
 *   protected Timer newTimer(TimerSettings settings) {
 *     MyTimer timer = new MyTimer(clock, settings.tick(), settings.maxPendingTimeouts() ...);
 *     timers.add(timer);
 *     return timer;
 *   }
 *
 *   @Override
 *   protected void advance(Duration duration) throws InterruptedException {
 *     clock.advanceBy(duration);
 *     for (MyTimer timer : timers) {
 *       timer.poll();
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>A timer with its own thread needs more care: {@code advance} must not return before that
 * thread has completed all due work. {@link ManualTimeSource#awaitParked} waits for that.
 *
 * <p>The tests do not sleep and do not measure time. Time must pass only when a test advances it.
 * So this contract cannot test a timer whose clock cannot be injected. JUnit Jupiter must be on the
 * class path; no other class of this module needs it.
 *
 * <p>Each group of guarantees is a separate interface. Its tests belong to the class that extends
 * this one: they are selected, run and reported under its name.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
public abstract class TimerContract
    implements TimeoutContract,
        DelayContract,
        FiringContract,
        CancellingContract,
        ReschedulingContract,
        TaskContract,
        CountingContract,
        StoppingContract,
        BusyContract,
        RacingContract {
  private final List<Timer> timers = new ArrayList<>();
  private final List<Runnable> endings = new ArrayList<>();
  private final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
  private Duration elapsed = Duration.ZERO;

  /** For subclasses; JUnit makes an instance for each test. */
  protected TimerContract() {}

  /**
   * Makes a timer to test. Tests call this on the test thread; a few call it many times. The test
   * stops all timers that it receives.
   *
   * @param settings the settings that the test needs
   * @return a new timer, whose clock stands still until {@link #advance}
   */
  protected abstract Timer newTimer(TimerSettings settings);

  /**
   * Advances the time for all timers that this instance has made, including stopped ones. Returns
   * when every task that is then due has run, or was handed to the executor in the settings. Only
   * one thread at a time calls this, but not always the test thread. Other threads may start, move
   * and cancel timeouts and stop the timer meanwhile. The call need not run timeouts that are
   * started meanwhile.
   *
   * @param duration the time to advance by; zero only runs due tasks
   * @throws InterruptedException if the test was interrupted because it took too long
   */
  protected abstract void advance(Duration duration) throws InterruptedException;

  @Override
  public final TimerSettings settings() {
    return new TimerSettings(Contracts.TICK, 0, null, (timeout, error) -> errors.add(error));
  }

  @Override
  public final Timer timer(TimerSettings settings) {
    Timer timer = newTimer(settings);
    timers.add(timer);
    return timer;
  }

  @Override
  public final Duration elapsed() {
    return elapsed;
  }

  @Override
  public final void advanceBy(Duration duration) {
    try {
      advance(duration);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted: the test took too long", e);
    }
    elapsed = elapsed.plus(duration);
  }

  @Override
  public final void atEnd(Runnable action) {
    endings.add(action);
  }

  @AfterEach
  void allAccountsBalanceAndNothingWasThrown() {
    endings.forEach(Runnable::run);
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
}
