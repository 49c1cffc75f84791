// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A timer without a thread. The caller polls it from an event loop, an actor or a test, and the
 * tasks run inside {@link #poll()}.
 *
 * <pre>{@code
 * while (running) {
 *   long nanos = timer.nextDeadlineNanos() - System.nanoTime();
 *   selector.select(1 + max(0, nanos / 1_000_000)); // rounded up: 0 would wait forever
 *   handleIo();
 *   timer.poll();
 * }
 * }</pre>
 *
 * <p>All methods may be called from any thread. If several threads poll, they take turns. If a task
 * polls, the due tasks run inside that task. Starting a timeout wakes no thread. If a thread waits
 * for {@link #nextDeadlineNanos} and another thread starts an earlier timeout, the application must
 * wake the waiting thread.
 *
 * <p>The timer has one hierarchical wheel with a tick of 1 ms by default. Timeouts of different
 * ticks fire in the order of their ticks.
 *
 * <p>Extend this class for a timer that is polled in another way, such as the {@code ManualTimer}
 * of {@code timewheel-testkit}. {@link Timeout#timer()} then returns the subclass instance.
 */
public class PolledTimer implements Timer {
  private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(10);

  private final Engine engine;
  private final ReentrantLock polling = new ReentrantLock();
  private final AtomicBoolean stopped = new AtomicBoolean();

  /**
   * Makes a timer with the current values of the given settings.
   *
   * @param settings the settings
   */
  @SuppressWarnings("this-escape") // the engine does not pass it on before the first timeout
  protected PolledTimer(Builder settings) {
    engine = new Engine(this, settings, 1, false, HierarchicalWheel::new);
  }

  /** {@return a new timer with a tick of 1 ms on the clock of the machine} */
  public static PolledTimer create() {
    return builder().build();
  }

  /** {@return a builder with the settings of {@link #create}} */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Runs all tasks that are due now, or hands them to the executor if there is one.
   *
   * @return how many tasks it ran or handed to the executor
   */
  public final int poll() {
    return poll(Integer.MAX_VALUE);
  }

  /**
   * Runs at most {@code limit} tasks that are due now, or hands them to the executor if there is
   * one. The others wait for the next poll.
   *
   * @param limit the maximum number of tasks to run, zero or more
   * @return how many tasks it ran or handed to the executor
   * @throws IllegalArgumentException if {@code limit} is negative
   */
  public int poll(int limit) {
    if (limit < 0) {
      throw new IllegalArgumentException("limit: " + limit + " (expected: 0 or more)");
    }
    polling.lock();
    try {
      return engine.runDue(limit);
    } finally {
      polling.unlock();
    }
  }

  /**
   * Returns the time at which {@link #poll()} next has something to do, as a reading of this
   * timer's {@link TimeSource}. It is in the past if a timeout is already due. It may be earlier
   * than the next timeout if timeouts were cancelled or moved, but it is never later. If there is
   * no such time, it is {@code Long.MAX_VALUE} nanoseconds from now. Compare it with other readings
   * by difference.
   *
   * @return when to poll next
   */
  public final long nextDeadlineNanos() {
    long tick = engine.nextTick();
    return tick == Ticks.NEVER
        ? timeSource().nanoTime() + Long.MAX_VALUE
        : engine.clock.readingAt(tick);
  }

  /** {@return the length of a tick} */
  public final Duration tick() {
    return Duration.ofNanos(engine.clock.ticks.tickNanos);
  }

  @Override
  public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
    return engine.start(task, delay, unit);
  }

  @Override
  public final Set<Timeout> stop() {
    return stop(SHUTDOWN_TIMEOUT);
  }

  /**
   * Stops this timer. Waits for a {@link #poll()} in progress on another thread. Does not interrupt
   * that thread, because it does not belong to the timer.
   */
  @Override
  public Set<Timeout> stop(Duration shutdownTimeout) {
    requireNonNull(shutdownTimeout, "shutdownTimeout");
    if (polling.isHeldByCurrentThread()) {
      throw new IllegalStateException("stop() cannot be called by a task inside poll()");
    }
    boolean first = stopped.compareAndSet(false, true);
    // Every call does this, not only the first: none may return while timeouts are accepted or
    // pending.
    Drained drained = engine.shutDown();
    if (first) {
      awaitPoll(shutdownTimeout);
    }
    return engine.afterShutDown(drained);
  }

  private void awaitPoll(Duration shutdownTimeout) {
    try {
      if (polling.tryLock(TimeUnit.NANOSECONDS.convert(shutdownTimeout), TimeUnit.NANOSECONDS)) {
        polling.unlock();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (OutOfMemoryError e) {
      // Without memory, this thread cannot wait. The caller's result matters more than the wait.
    }
  }

  @Override
  public final boolean isStopped() {
    return stopped.get();
  }

  @Override
  public final long pendingTimeouts() {
    return engine.pendingTimeouts();
  }

  @Override
  public final TimerStats stats() {
    return engine.stats();
  }

  @Override
  public TimeSource timeSource() {
    return engine.clock.timeSource;
  }

  @Override
  public String toString() {
    return isStopped() ? "PolledTimer(stopped)" : "PolledTimer()";
  }

  /** The settings of a {@link PolledTimer}. */
  public static final class Builder extends TimerBuilder<Builder> {
    private Builder() {
      super(Duration.ofMillis(1));
    }

    @Override
    Builder self() {
      return this;
    }

    /** {@return a new timer with these settings} */
    public PolledTimer build() {
      return new PolledTimer(this);
    }
  }
}
