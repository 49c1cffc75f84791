// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A timer with its own thread, the timer thread. The first timeout starts the thread, which sleeps
 * whenever nothing is due. It is a daemon unless the thread factory decides otherwise. It ends when
 * the timer is stopped, or when the timer is unreachable and nothing will ever be due.
 */
public abstract sealed class WheelTimer implements Timer
    permits HashedWheelTimer, HierarchicalWheelTimer {
  private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(10);
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  private final String name;
  private final Engine engine;
  private final Worker worker;
  private final AtomicBoolean stopped = new AtomicBoolean();

  WheelTimer(Builder<?> settings, Function<Ticks, Wheel> wheels) {
    name = settings.name != null ? settings.name : nextName();
    engine = new Engine(this, settings, settings.stripes, true, wheels);
    worker =
        new Worker(engine, settings.threadFactory != null ? settings.threadFactory : daemons(name));
  }

  /**
   * Returns the next default name. Does not use {@code +}, which takes about 10 ms to link for the
   * first timer of a JVM.
   */
  private static String nextName() {
    return "timewheel-".concat(Integer.toString(NUMBERS.incrementAndGet()));
  }

  /**
   * Returns the default thread factory. The timer may outlive the thread that makes it, so its
   * thread inherits no thread-locals.
   */
  private static ThreadFactory daemons(String name) {
    return worker -> {
      Thread daemon = new Thread(null, worker, name, 0, false);
      daemon.setDaemon(true);
      return daemon;
    };
  }

  /**
   * Starts the timer thread before the first timeout is added: the timer accepts no timeout that no
   * thread would run.
   */
  @Override
  public final Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
    if (!worker.hasBegun()) {
      requireNonNull(task, "task"); // start no thread for a timeout that will be refused
      requireNonNull(unit, "unit");
      worker.start();
    }
    return engine.start(task, delay, unit);
  }

  @Override
  public final Set<Timeout> stop() {
    return stop(SHUTDOWN_TIMEOUT);
  }

  @Override
  public final Set<Timeout> stop(Duration shutdownTimeout) {
    requireNonNull(shutdownTimeout, "shutdownTimeout");
    if (worker.isCurrentThread()) {
      throw new IllegalStateException(
          "stop() cannot be called by a task on the timer thread; call it from another thread");
    }
    boolean first = stopped.compareAndSet(false, true);
    // Every call does this, not only the first: none may return while timeouts are accepted or
    // pending.
    Drained drained;
    try {
      drained = engine.shutDown();
    } finally {
      if (first) {
        worker.stop(shutdownTimeout);
      }
    }
    return engine.afterShutDown(drained);
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
  public final TimeSource timeSource() {
    return engine.clock.timeSource;
  }

  @Override
  public final String toString() {
    return getClass().getSimpleName() + "(" + name + (isStopped() ? ", stopped)" : ")");
  }

  /**
   * The settings of timers with a thread.
   *
   * @param <B> the type of the builder itself
   */
  public abstract static sealed class Builder<B extends Builder<B>> extends TimerBuilder<B>
      permits HashedWheelTimer.Builder, HierarchicalWheelTimer.Builder {
    static final int MAX_STRIPES = 256;

    private @Nullable String name;
    private @Nullable ThreadFactory threadFactory;
    private int stripes = defaultStripes();

    Builder(Duration tick) {
      super(tick);
    }

    /**
     * Sets the name of the timer and, without a thread factory, of its thread.
     *
     * @param name the name
     * @return this builder
     */
    public B name(String name) {
      this.name = requireNonNull(name, "name");
      return self();
    }

    /**
     * Sets the factory that makes the timer thread, once, when the timer is built. By default the
     * thread is a daemon.
     *
     * @param threadFactory makes the thread of the timer, once
     * @return this builder
     */
    public B threadFactory(ThreadFactory threadFactory) {
      this.threadFactory = requireNonNull(threadFactory, "threadFactory");
      return self();
    }

    /**
     * Sets the number of independent parts of the timer, rounded up to a power of two. The default
     * is twice the number of processors, at most 32. That default suits many threads that start
     * timeouts at the same time. With one part, timeouts of the same tick fire in the order in
     * which they were started, unless one was started late or moved.
     *
     * @param stripes the number of parts: 1 to 256
     * @return this builder
     * @throws IllegalArgumentException if {@code stripes} is not from 1 to 256
     */
    public B stripes(int stripes) {
      if (stripes < 1 || stripes > MAX_STRIPES) {
        throw new IllegalArgumentException(
            "stripes: " + stripes + " (expected: 1 to " + MAX_STRIPES + ")");
      }
      this.stripes = ceilingPowerOfTwo(stripes);
      return self();
    }

    private static int defaultStripes() {
      return Math.min(32, ceilingPowerOfTwo(2 * Runtime.getRuntime().availableProcessors()));
    }

    static int ceilingPowerOfTwo(int number) {
      return 1 << (Integer.SIZE - Integer.numberOfLeadingZeros(number - 1));
    }
  }
}
