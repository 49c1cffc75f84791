// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits for conditions that are certain to become true. A broken test ends after a minute. */
final class Eventually {
  private static final long TIMEOUT_SECONDS = 60;

  private Eventually() {}

  static void zero(CountDownLatch latch) throws InterruptedException {
    assertThat(latch.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).as("latch is open").isTrue();
  }

  @SuppressWarnings("ThreadPriorityCheck") // the other thread may need this processor
  static void holds(String what, BooleanSupplier condition) {
    long giveUpNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - giveUpNanos > 0) {
        fail("waited too long for " + what);
      }
      Thread.yield();
    }
  }

  static void ended(Thread thread) throws InterruptedException {
    thread.join(TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS));
    assertThat(thread.isAlive()).as("%s is alive", thread).isFalse();
  }

  static void noThreadNamed(String prefix) throws InterruptedException {
    for (Thread thread : threadsNamed(prefix)) {
      ended(thread);
    }
  }

  static List<Thread> threadsNamed(String prefix) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith(prefix))
        .toList();
  }
}
