// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.timewheel.Timeout;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.task.VirtualThreadTaskExecutor;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * The threads that run the tasks of the timer and the scheduler; it stops all three together.
 *
 * <p>Not itself an {@code Executor}: a bean of that type would keep Spring Boot from making its
 * own.
 *
 * <h2>The end</h2>
 *
 * When the context closes, the scheduler and the timer stop first, so that nothing new begins; then
 * running tasks have the patience to end, and those that have not ended are interrupted. A
 * lifecycle does this, not the destruction of beans, because tasks use beans that this one does not
 * know. The phase is low: web servers and message listeners, which start timeouts for the work in
 * hand, start after it and stop before it.
 *
 * <p>A context can also be stopped and started again, and a test framework does that to contexts
 * that it keeps. A stopped timer cannot start again, so only the close of the context counts, and
 * {@link #stop} checks for it.
 */
final class Workers implements SmartLifecycle, AutoCloseable {
  static final int PHASE = 0;

  private static final System.Logger LOGGER = System.getLogger("io.timewheel");

  private final ConfigurableApplicationContext context;
  private final ThreadPoolExecutor threads;
  private final Duration patience;

  /** What stops before the threads, the last added first. */
  private final Deque<Runnable> stops = new ArrayDeque<>();

  private volatile boolean running = true;

  private Workers(
      ConfigurableApplicationContext context, ThreadPoolExecutor threads, Duration patience) {
    this.context = context;
    this.threads = threads;
    this.patience = patience;
  }

  /** A virtual thread for each task. */
  static Workers virtual(
      ConfigurableApplicationContext context, String namePrefix, Duration patience) {
    return new Workers(
        context,
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            0,
            SECONDS,
            new SynchronousQueue<>(),
            new VirtualThreadTaskExecutor(namePrefix).getVirtualThreadFactory()),
        patience);
  }

  /** A pool of daemon threads, which end when idle. */
  static Workers pool(
      ConfigurableApplicationContext context, String namePrefix, int count, Duration patience) {
    CustomizableThreadFactory daemons = new CustomizableThreadFactory(namePrefix);
    daemons.setDaemon(true);
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(count, count, 10, SECONDS, new LinkedBlockingQueue<>(), daemons);
    threads.allowCoreThreadTimeOut(true);
    return new Workers(context, threads, patience);
  }

  /** Adds something that stops when the context closes, before the threads and what they run. */
  synchronized void stopFirst(Runnable stop) {
    stops.push(stop);
  }

  /** Runs a task on one of the threads. */
  void execute(Runnable task) {
    threads.execute(task);
  }

  @Override
  public void start() {}

  /** Stops everything if the context closes for good. */
  @Override
  public void stop() {
    if (context.isClosed()) {
      running = false;
      stopFirsts();
      threads.shutdown();
      if (!awaitEnd()) {
        LOGGER.log(
            Level.WARNING,
            "{0} tasks have not ended and are interrupted; timewheel.stop-patience is {1}",
            threads.getActiveCount(),
            patience);
        close();
      }
    }
  }

  private synchronized void stopFirsts() {
    while (!stops.isEmpty()) {
      stops.pop().run();
    }
  }

  private boolean awaitEnd() {
    try {
      return threads.awaitTermination(NANOSECONDS.convert(patience), NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Interrupts what runs, and drops what has not begun. Cancels a future, so that nothing waits for
   * it in vain, even if only the timeout of a scheduled one has come here; for the others there is
   * only the log.
   */
  @Override
  public void close() {
    int dropped = 0;
    for (Runnable neverBegun : threads.shutdownNow()) {
      Object task = neverBegun instanceof Timeout timeout ? timeout.task() : neverBegun;
      if (task instanceof Future<?> future) {
        future.cancel(false);
      } else {
        dropped++;
      }
    }
    if (dropped > 0) {
      LOGGER.log(Level.WARNING, "{0} tasks have not begun and are dropped", dropped);
    }
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return PHASE;
  }
}
