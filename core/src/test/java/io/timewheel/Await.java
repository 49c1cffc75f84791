// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.lang.ref.WeakReference;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Waits for other threads. Each condition is certain to become true. A wait fails after a minute,
 * so that a broken test ends and reports where.
 */
public final class Await {
  private static final long TIMEOUT_SECONDS = 60;

  private Await() {}

  @SuppressWarnings("ThreadPriorityCheck") // the other thread may need this processor
  public static void until(String what, BooleanSupplier condition) {
    long giveUpNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - giveUpNanos > 0) {
        fail("waited too long for " + what);
      }
      Thread.yield();
    }
  }

  /** Waits until the referent is reachable only through the reference itself. */
  public static void collected(WeakReference<?> reference) {
    until(
        "the collection of " + reference.get(),
        () -> {
          System.gc();
          return reference.get() == null;
        });
  }

  public static void zero(CountDownLatch latch) {
    try {
      assertThat(latch.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).as("latch is open").isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted while waiting", e);
    }
  }

  public static void end(Thread thread) {
    try {
      thread.join(TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted while waiting", e);
    }
    assertThat(thread.isAlive()).as("%s is alive", thread).isFalse();
  }
}
