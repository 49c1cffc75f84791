// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Creates the threads of handlers: a virtual thread for each attempt if the JVM has them, otherwise
 * a pool of daemon threads that grows and shrinks. The limits of the handlers bound the pool.
 */
public final class HandlerThreads {
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  private HandlerThreads() {}

  public static ExecutorService create() {
    return create("newVirtualThreadPerTaskExecutor");
  }

  /** Calls a factory method of {@link Executors} that may not exist in this JVM. */
  static ExecutorService create(String factory) {
    try {
      return (ExecutorService)
          MethodHandles.publicLookup()
              .findStatic(Executors.class, factory, MethodType.methodType(ExecutorService.class))
              .invokeExact();
    } catch (Throwable e) {
      return pool(); // the method does not exist, or is a disabled preview
    }
  }

  private static ExecutorService pool() {
    return new HandlerPool(HandlerThreads::newThread);
  }

  private static Thread newThread(Runnable work) {
    Thread thread = new Thread(work, "timewheel-durable-handler-" + NUMBERS.incrementAndGet());
    thread.setDaemon(true);
    return thread;
  }
}
