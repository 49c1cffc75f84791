// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Verifies the pool of handlers on a JVM without virtual threads. */
@Timeout(60)
class HandlerThreadsTest {
  private final CountDownLatch arrives = new CountDownLatch(1);
  private final CountDownLatch done = new CountDownLatch(1);
  private final AtomicInteger threads = new AtomicInteger();

  /** Creates one thread, which arrives late, and no other. */
  private Thread newThread(Runnable work) {
    if (threads.incrementAndGet() > 1) {
      throw new OutOfMemoryError("on purpose");
    }
    Thread thread =
        new Thread(
            () -> {
              await(arrives);
              work.run();
            });
    thread.setDaemon(true);
    return thread;
  }

  @Test
  void refusesATaskForWhichNoThreadStarts() throws Exception {
    ExecutorService pool = HandlerThreads.pool(this::newThread);
    pool.execute(() -> await(done));
    assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(OutOfMemoryError.class);
    arrives.countDown();
    done.countDown();
    pool.shutdown();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
