// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/** The schedulers of the JDK. */
final class ScheduledSubject implements Subject {
  private final ScheduledExecutorService executor;

  private ScheduledSubject(ScheduledExecutorService executor) {
    this.executor = executor;
  }

  static ScheduledSubject threadPool() {
    ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(1, Daemon::new);
    pool.setRemoveOnCancelPolicy(true);
    return new ScheduledSubject(pool);
  }

  /**
   * Returns a fork-join pool. It is a ScheduledExecutorService since JDK 25, which the compiler
   * need not know.
   */
  static ScheduledSubject forkJoinPool() {
    ExecutorService pool = new ForkJoinPool(1);
    return new ScheduledSubject((ScheduledExecutorService) pool);
  }

  @Override
  public Object task(Runnable body) {
    return body;
  }

  @Override
  @SuppressWarnings("FutureReturnValueIgnored") // the future is the handle
  public Object start(Object task, long delayNanos) {
    return executor.schedule((Runnable) task, delayNanos, NANOSECONDS);
  }

  @Override
  public boolean cancel(Object handle) {
    return ((Future<?>) handle).cancel(false);
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
