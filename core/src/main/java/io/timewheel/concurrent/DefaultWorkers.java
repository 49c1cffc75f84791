// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes the default workers of an executor: a virtual thread for each task if the JVM has them.
 * Otherwise a pool with one daemon thread per processor, at least two, which end when idle.
 */
final class DefaultWorkers {
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  private DefaultWorkers() {}

  static ExecutorService create() {
    return create("newVirtualThreadPerTaskExecutor");
  }

  /** Calls a factory method of {@link Executors} that this JVM may lack. */
  static ExecutorService create(String factory) {
    try {
      return (ExecutorService)
          MethodHandles.publicLookup()
              .findStatic(Executors.class, factory, MethodType.methodType(ExecutorService.class))
              .invokeExact();
    } catch (Throwable e) {
      return pool(); // the method is missing, or it is a preview that is not enabled
    }
  }

  private static ExecutorService pool() {
    int threads = Math.max(2, Runtime.getRuntime().availableProcessors());
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            DefaultWorkers::newThread);
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  private static Thread newThread(Runnable work) {
    Thread thread = new Thread(work, "timewheel-worker-" + NUMBERS.incrementAndGet());
    thread.setDaemon(true);
    return thread;
  }
}
