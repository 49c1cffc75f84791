// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static java.util.Objects.requireNonNull;

import io.timewheel.PolledTimer;
import io.timewheel.Timeout;
import io.timewheel.TimerBuilder;
import io.timewheel.TimerTask;
import java.time.Duration;
import java.util.Collections;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/**
 * A timer whose time a test moves: the real engine, without a thread or a clock of its own, so a
 * test of timed code takes no time and ends the same way every time.
 *
 * <pre>{@code
 * ManualTimer timer = ManualTimer.create();
 * Session session = new Session(timer, Duration.ofSeconds(30)); // the code under test
 *
 * timer.advanceBy(Duration.ofSeconds(29));
 * assertTrue(session.isOpen());
 * timer.advanceBy(Duration.ofSeconds(1));
 * assertFalse(session.isOpen());
 * }</pre>
 *
 * <h2>How time passes</h2>
 *
 * {@link #advanceBy}, {@link #advanceTo} and {@link #poll()} run the tasks, on the calling thread
 * or, if there is one, on the executor. An advance goes from one tick at which something is due to
 * the next, in order, so each task finds the clock at the tick at which it fires. Timeouts that
 * tasks start or move meanwhile fire in the same advance if they are due by its end.
 *
 * <p>A task cannot advance the timer that runs it. It can move {@link #timeSource()}, to pretend
 * that it takes a long time: what became due meanwhile then fires late, as it really would, and the
 * advance ends no earlier than the time to which the task moved the clock.
 *
 * <h2>What tasks throw</h2>
 *
 * A task that throws fails the test instead of writing to a log: the timer keeps everything that
 * tasks and other callbacks throw. The advance during which it happened throws it, after that has
 * reached its end; outside of an advance, so does the next {@link #advanceBy}, {@link #advanceTo},
 * {@link #poll()}, {@link #stop()} or {@link #close()}. It is an {@link AssertionError} whose cause
 * is what was thrown first; it suppresses what was thrown later. A timer that was built with its
 * own {@link TimerBuilder#onError onError} throws none.
 *
 * <p>All methods may be called from any thread; those that run tasks take turns.
 */
public final class ManualTimer extends PolledTimer {
  private final ManualTimeSource timeSource;
  private final long startNanos;
  private final Queue<Throwable> errors;

  /**
   * All timeouts that are still referred to; the timer refers to the pending ones. The wheel itself
   * knows the next deadline only roughly once timeouts were cancelled or moved.
   */
  private final Set<Timeout> timeouts =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  /** Guarded by this. */
  private boolean running;

  private ManualTimer(Builder settings, Queue<Throwable> errors) {
    super(settings);
    if (!(super.timeSource() instanceof ManualTimeSource manual)) {
      throw new IllegalArgumentException(
          "timeSource: " + super.timeSource() + " (expected: a ManualTimeSource)");
    }
    this.timeSource = manual;
    this.startNanos = manual.nanoTime();
    this.errors = errors;
  }

  /** {@return a new timer with a tick of 1 ms, at the time zero} */
  public static ManualTimer create() {
    return create(settings -> {});
  }

  /**
   * Makes a timer with other settings than those of {@link #create()}:
   *
   * <pre>{@code
   * ManualTimer timer = ManualTimer.create(settings -> settings.tick(Duration.ofMillis(10)));
   * }</pre>
   *
   * <p>Its clock must be a {@link ManualTimeSource}: a new one that starts at zero, unless set. Set
   * it for a clock that starts at a certain reading, or for several timers on one clock. An advance
   * moves the clock of all timers that share it, but runs the tasks of one; the others run theirs
   * when they are advanced or polled.
   *
   * @param settings changes the settings
   * @return a new timer
   * @throws IllegalArgumentException if the clock is set and not a {@link ManualTimeSource}
   */
  public static ManualTimer create(Consumer<? super Builder> settings) {
    Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
    Builder builder = PolledTimer.builder();
    builder.timeSource(new ManualTimeSource()).onError((timeout, error) -> errors.add(error));
    settings.accept(builder);
    return new ManualTimer(builder, errors);
  }

  // Time

  /**
   * Lets time pass, and runs the tasks that become due.
   *
   * @param duration how long; zero runs what is due already, as {@link #poll()} does
   * @return how many tasks were run or handed to the executor
   * @throws IllegalArgumentException if {@code duration} is negative, or leads beyond 292 years
   * @throws IllegalStateException if called by a task that this timer runs
   * @throws AssertionError if a task or callback threw, after the time has passed
   */
  public int advanceBy(Duration duration) {
    return advance(timeSource.nanos(duration));
  }

  /**
   * Lets time pass until a given moment, and runs the tasks that become due.
   *
   * @param elapsed the moment, as time since this timer was made
   * @return how many tasks were run or handed to the executor
   * @throws IllegalArgumentException if {@code elapsed} has passed already, or is beyond 292 years
   * @throws IllegalStateException if called by a task that this timer runs
   * @throws AssertionError if a task or callback threw, after the time has passed
   */
  public synchronized int advanceTo(Duration elapsed) {
    requireNonNull(elapsed, "elapsed");
    Duration now = elapsed();
    if (elapsed.compareTo(now) < 0) {
      throw new IllegalArgumentException(
          "elapsed: " + elapsed + " (expected: at least " + now + ", the present time)");
    }
    return advance(timeSource.nanos(elapsed.minus(now)));
  }

  /**
   * Runs the tasks that are due, at most {@code limit} of them, without letting time pass. There
   * are none unless {@link #timeSource()} was moved directly, or an earlier limit left some.
   *
   * @param limit how many tasks to run at most
   * @return how many tasks were run or handed to the executor
   * @throws IllegalArgumentException if {@code limit} is negative
   * @throws IllegalStateException if called by a task that this timer runs
   * @throws AssertionError if a task or callback threw
   */
  @Override
  public int poll(int limit) {
    return run(() -> super.poll(limit));
  }

  private int advance(long nanos) {
    return run(() -> passTime(nanos));
  }

  private synchronized int run(IntSupplier tasks) {
    if (running) {
      throw new IllegalStateException(
          "a task cannot advance the timer that runs it; it may move timeSource()");
    }
    running = true;
    int ran;
    try {
      ran = tasks.getAsInt();
    } finally {
      running = false;
    }
    throwErrors();
    return ran;
  }

  private int passTime(long nanos) {
    int ran = 0;
    long endNanos = timeSource.nanoTime() + nanos;
    long nextNanos = nextDeadlineNanos();
    while (nextNanos - endNanos <= 0) {
      moveTo(nextNanos);
      ran += super.poll(Integer.MAX_VALUE);
      nextNanos = nextDeadlineNanos();
      if (timeSource.nanoTime() - endNanos > 0) {
        endNanos = timeSource.nanoTime(); // a task moved the clock
      }
    }
    moveTo(endNanos);
    return ran;
  }

  private void moveTo(long clockNanos) {
    long nanos = clockNanos - timeSource.nanoTime();
    if (nanos > 0) {
      timeSource.advanceBy(Duration.ofNanos(nanos));
    }
  }

  /** {@return the time since this timer was made} */
  public Duration elapsed() {
    return Duration.ofNanos(timeSource.nanoTime() - startNanos);
  }

  /**
   * The moment at which the next timeout fires, as time since this timer was made: the tick of the
   * earliest deadline that is pending. Exact even when timeouts were cancelled or moved.
   *
   * <p>{@code timer.advanceTo(timer.nextDeadline().orElseThrow())} runs that timeout, and those
   * that are due at the same tick.
   *
   * @return the moment; empty if there is none
   */
  public synchronized Optional<Duration> nextDeadline() {
    long tickNanos = tick().toNanos();
    long elapsedNanos = elapsed().toNanos();
    long earliestNanos = Long.MAX_VALUE;
    synchronized (timeouts) {
      for (Timeout timeout : timeouts) {
        long deadlineNanos = elapsedNanos + timeout.remaining(TimeUnit.NANOSECONDS);
        if (deadlineNanos < earliestNanos && !timeout.isExpired() && !timeout.isCancelled()) {
          earliestNanos = deadlineNanos;
        }
      }
    }
    long tick = (earliestNanos - 1) / tickNanos + 1;
    return earliestNanos == Long.MAX_VALUE || tick > Long.MAX_VALUE / tickNanos
        ? Optional.empty()
        : Optional.of(Duration.ofNanos(tick * tickNanos));
  }

  /** {@return the clock of this timer} Moving it runs nothing by itself. */
  @Override
  public ManualTimeSource timeSource() {
    return timeSource;
  }

  // What tasks throw

  private void throwErrors() {
    Throwable first = errors.poll();
    if (first == null) {
      return;
    }
    AssertionError failure = new AssertionError("a task or callback threw " + first, first);
    for (Throwable next = errors.poll(); next != null; next = errors.poll()) {
      failure.addSuppressed(next);
    }
    throw failure;
  }

  // The timer

  @Override
  public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
    Timeout timeout = super.newTimeout(task, delay, unit);
    timeouts.add(timeout);
    return timeout;
  }

  /**
   * Stops this timer. Waits for an advance in progress on another thread, but does not interrupt
   * that thread, which is not the timer's.
   *
   * @throws AssertionError if a task or callback threw, after the timer was stopped
   */
  @Override
  public Set<Timeout> stop(Duration patience) {
    Set<Timeout> cancelled = super.stop(patience);
    throwErrors();
    return cancelled;
  }

  @Override
  public String toString() {
    return "ManualTimer(" + elapsed() + (isStopped() ? ", stopped)" : ")");
  }
}
