// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * An executor that rejects tasks: when its short queue is full, sometimes at random, and sometimes
 * after accepting the task anyway.
 */
final class FlakyExecutor implements Executor {
  private static final int QUEUE = 1024;
  private static final int REJECT_EVERY = 499;
  private static final int LIE_EVERY = 997;

  private final ThreadPoolExecutor pool;
  private final LongAdder rejections = new LongAdder();

  /** Used by the timer thread only. */
  private int calls;

  FlakyExecutor(ThreadFactory threads) {
    pool =
        new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(QUEUE), threads);
  }

  @Override
  public void execute(Runnable command) {
    calls++;
    if (calls % REJECT_EVERY == 0) {
      rejections.increment();
      throw new RejectedExecutionException("injected");
    }
    try {
      pool.execute(command);
    } catch (RejectedExecutionException e) {
      rejections.increment();
      throw e;
    }
    if (calls % LIE_EVERY == 0) {
      rejections.increment();
      throw new IllegalStateException("injected, after the task was accepted");
    }
  }

  long rejections() {
    return rejections.sum();
  }

  /** Runs all accepted tasks, and ends. */
  boolean shutDown(long seconds) throws InterruptedException {
    pool.shutdown();
    return pool.awaitTermination(seconds, TimeUnit.SECONDS);
  }
}
