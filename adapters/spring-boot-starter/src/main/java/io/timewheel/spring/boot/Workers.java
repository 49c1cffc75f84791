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
 * Owns the threads that run the tasks of the timer and of the scheduler. Stops the scheduler, the
 * timer and these threads together.
 *
 * <p>This class does not implement {@code Executor}, because Spring Boot makes no executor of its
 * own if there is a bean of that type.
 *
 * <h2>Stop</h2>
 *
 * When the context closes, the scheduler and the timer stop first, so no new task begins. Then
 * running tasks may end within the shutdown timeout. The others are interrupted. A lifecycle bean
 * does this. The destruction of its bean could come too late, because tasks use other beans, which
 * this class does not know. Its phase is lower than that of web servers and message listeners,
 * which start timeouts for their current work. So these start after it and stop before it.
 *
 * <p>A context can also be stopped and started again, as a test framework does with cached
 * contexts. A stopped timer cannot start again. So {@link #stop} does nothing unless the context
 * closes.
 */
final class Workers implements SmartLifecycle, AutoCloseable {
  static final int PHASE = 0;

  private static final System.Logger LOGGER = System.getLogger("io.timewheel");

  private final ConfigurableApplicationContext context;
  private final ThreadPoolExecutor threads;
  private final Duration shutdownTimeout;

  /** The objects to stop before the threads, the last added first. */
  private final Deque<Runnable> stops = new ArrayDeque<>();

  private volatile boolean running = true;

  private Workers(
      ConfigurableApplicationContext context,
      ThreadPoolExecutor threads,
      Duration shutdownTimeout) {
    this.context = context;
    this.threads = threads;
    this.shutdownTimeout = shutdownTimeout;
  }

  /** Makes workers with a virtual thread for each task. */
  static Workers virtual(
      ConfigurableApplicationContext context, String namePrefix, Duration shutdownTimeout) {
    return new Workers(
        context,
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            0,
            SECONDS,
            new SynchronousQueue<>(),
            new VirtualThreadTaskExecutor(namePrefix).getVirtualThreadFactory()),
        shutdownTimeout);
  }

  /** Makes workers with a pool of daemon threads, which end after ten idle seconds. */
  static Workers pool(
      ConfigurableApplicationContext context,
      String namePrefix,
      int count,
      Duration shutdownTimeout) {
    CustomizableThreadFactory daemons = new CustomizableThreadFactory(namePrefix);
    daemons.setDaemon(true);
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(count, count, 10, SECONDS, new LinkedBlockingQueue<>(), daemons);
    threads.allowCoreThreadTimeOut(true);
    return new Workers(context, threads, shutdownTimeout);
  }

  /** Registers an object to stop when the context closes, before the threads. */
  synchronized void stopFirst(Runnable stop) {
    stops.push(stop);
  }

  /** Runs a task on one of the threads. */
  void execute(Runnable task) {
    threads.execute(task);
  }

  @Override
  public void start() {}

  /** Stops the registered objects and the threads if the context closes permanently. */
  @Override
  public void stop() {
    if (context.isClosed()) {
      running = false;
      stopFirsts();
      threads.shutdown();
      if (!awaitEnd()) {
        LOGGER.log(
            Level.WARNING,
            "{0} tasks have not ended and are interrupted; timewheel.shutdown-timeout is {1}",
            threads.getActiveCount(),
            shutdownTimeout);
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
      return threads.awaitTermination(NANOSECONDS.convert(shutdownTimeout), NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Interrupts running tasks, and drops tasks that have not begun. If a dropped task is a future,
   * cancels it, so that no thread waits for it forever. This includes a future that is the task of
   * a submitted timeout. Logs the number of other dropped tasks.
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
