// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testing;

import java.lang.ref.WeakReference;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits for other threads and processes. Each condition is certain to become true. A wait fails
 * after two minutes, so that a broken test ends and reports where.
 */
public final class Await {
  private static final long TIMEOUT_SECONDS = 120;
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private Await() {}

  /** A condition that other threads or processes make true. */
  @FunctionalInterface
  public interface Condition {
    boolean holds() throws Exception;
  }

  /**
   * Waits until a condition holds. Parks between its checks, so that a processor is free for the
   * awaited work.
   */
  public static void until(Condition condition) {
    until("a condition", condition);
  }

  /** Waits until a condition holds, and names the awaited state in the failure. */
  public static void until(String state, Condition condition) {
    long startNanos = System.nanoTime();
    while (!holds(condition)) {
      if (System.nanoTime() - startNanos > TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS)) {
        throw new AssertionError("waited " + TIMEOUT_SECONDS + " s for " + state);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private static boolean holds(Condition condition) {
    try {
      return condition.holds();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError("a condition cannot be evaluated", e);
    }
  }

  /** Waits until the referent is reachable only through the reference itself. */
  public static void collected(WeakReference<?> reference) {
    until(
        "the collection of " + reference.get(),
        () -> {
          if (reference.get() != null) {
            System.gc();
          }
          return reference.get() == null;
        });
  }

  /** Waits until a latch is open. */
  public static void zero(CountDownLatch latch) {
    try {
      if (!latch.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError("waited " + TIMEOUT_SECONDS + " s for " + latch);
      }
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted while waiting", e);
    }
  }

  /** Waits until a thread has ended. */
  public static void end(Thread thread) {
    try {
      thread.join(TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted while waiting", e);
    }
    if (thread.isAlive()) {
      throw new AssertionError(thread + " is alive after " + TIMEOUT_SECONDS + " s");
    }
  }
}
