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
 * A timer whose clock only the test moves. It uses the production engine, without a thread and
 * without a real clock. So a test of timed code does not wait and is deterministic.
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
 * or, if there is one, on the executor. An advance moves in order from one tick with a due timeout
 * to the next. So the clock shows each task the tick at which the task fires. Timeouts that tasks
 * start or move meanwhile fire in the same advance if they are due by its end.
 *
 * <p>A task cannot advance the timer that runs it. It can move {@link #timeSource()}, to simulate a
 * slow task. Timeouts that become due meanwhile then fire late, as in production. The advance ends
 * no earlier than the time to which the task moved the clock.
 *
 * <h2>Exceptions of tasks</h2>
 *
 * A task that throws fails the test instead of writing to a log. The timer stores everything that
 * tasks and other callbacks throw. At its end, an advance throws an {@link AssertionError} whose
 * cause is the first of these exceptions; later ones are suppressed exceptions. If a callback
 * throws outside an advance, the next {@link #advanceBy}, {@link #advanceTo}, {@link #poll()},
 * {@link #stop()} or {@link #close()} throws the error. A timer with its own {@link
 * TimerBuilder#onError onError} does not throw.
 *
 * <p>All methods may be called from any thread. Calls that run tasks run one after the other.
 */
public final class ManualTimer extends PolledTimer {
  private final ManualTimeSource timeSource;
  private final long startNanos;
  private final Queue<Throwable> errors;

  /**
   * The timeouts that are still reachable; the timer itself refers to the pending ones. They are
   * needed because, after a cancel or a move, the wheel has only a lower bound of the next
   * deadline.
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

  /** {@return a new timer with a tick of 1 ms, at time zero} */
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
   * <p>Its clock must be a {@link ManualTimeSource}. By default, it is a new one that starts at
   * zero. Set it if the clock must start at a certain reading, or if several timers share a clock.
   * An advance moves the clock of all timers that share it, but runs the tasks of only one timer.
   * The others run theirs when they are advanced or polled.
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
   * Advances the time, and runs the tasks that become due.
   *
   * @param duration the time to advance by; zero only runs tasks that are already due, as {@link
   *     #poll()} does
   * @return how many tasks were run or handed to the executor
   * @throws IllegalArgumentException if {@code duration} is negative, or ends beyond 292 years
   * @throws IllegalStateException if called by a task that this timer runs
   * @throws AssertionError if a task or callback threw, after the time has passed
   */
  public int advanceBy(Duration duration) {
    return advance(timeSource.nanos(duration));
  }

  /**
   * Advances the time to a given moment, and runs the tasks that become due.
   *
   * @param elapsed the moment, as time since this timer was made
   * @return how many tasks were run or handed to the executor
   * @throws IllegalArgumentException if {@code elapsed} has already passed, or is beyond 292 years
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
   * Runs at most {@code limit} due tasks, without advancing the time. Tasks are due only if {@link
   * #timeSource()} was moved directly, or if an earlier limit left some.
   *
   * @param limit the maximum number of tasks to run, zero or more
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
   * Returns the moment at which the next timeout fires, as time since this timer was made: the tick
   * of the earliest pending deadline. It is exact even if timeouts were cancelled or moved.
   *
   * <p>{@code timer.advanceTo(timer.nextDeadline().orElseThrow())} runs that timeout, and those
   * that are due at the same tick.
   *
   * @return the moment; empty if no timeout will fire
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

  /** {@return the clock of this timer} Moving the clock runs no tasks. */
  @Override
  public ManualTimeSource timeSource() {
    return timeSource;
  }

  // Exceptions of tasks

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
   * Stops this timer. Waits for an advance in progress on another thread. Does not interrupt that
   * thread, because it does not belong to the timer.
   *
   * @throws AssertionError if a task or callback threw, after the timer was stopped
   */
  @Override
  public Set<Timeout> stop(Duration shutdownTimeout) {
    Set<Timeout> cancelled = super.stop(shutdownTimeout);
    throwErrors();
    return cancelled;
  }

  @Override
  public String toString() {
    return "ManualTimer(" + elapsed() + (isStopped() ? ", stopped)" : ")");
  }
}
