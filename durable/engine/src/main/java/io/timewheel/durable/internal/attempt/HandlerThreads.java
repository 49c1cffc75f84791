// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads of handlers: a virtual one for each attempt where the JVM has them, otherwise a pool
 * of daemons that grows as it must and shrinks again. The limits of the handlers bound it.
 */
public final class HandlerThreads {
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  private HandlerThreads() {}

  public static ExecutorService create() {
    return create("newVirtualThreadPerTaskExecutor");
  }

  /** Calls a factory of {@link Executors} that this JVM may have. */
  static ExecutorService create(String factory) {
    try {
      return (ExecutorService)
          MethodHandles.publicLookup()
              .findStatic(Executors.class, factory, MethodType.methodType(ExecutorService.class))
              .invokeExact();
    } catch (Throwable e) {
      return pool(); // there is no such method, or it is a preview that is not enabled
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
