// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.testing.Await;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests the second check of the timer thread (step 4 of its loop) while another thread holds a lock
 * that it needs.
 */
@Timeout(60)
class SecondLookTest {

  private final AtomicInteger readings = new AtomicInteger();
  private final CountDownLatch release = new CountDownLatch(1);
  private final BlockingQueue<Long> parks = new LinkedBlockingQueue<>();
  private final List<ExecutorService> threads = new ArrayList<>();

  private final PolledTimer.Builder settings =
      PolledTimer.builder().tick(Duration.ofNanos(1)).timeSource(new Clock());
  private final Engine engine =
      new Engine(PolledTimer.create(), settings, 2, true, HierarchicalWheel::new);
  private final Stripe[] stripes = stripes(engine);
  private final Worker worker = new Worker(engine, Thread::new);
  private final Thread workerThread = new Thread(worker);

  @AfterEach
  void stop() throws InterruptedException {
    release.countDown();
    worker.stop(Duration.ofSeconds(10));
    workerThread.join();
    threads.forEach(ExecutorService::shutdownNow);
  }

  /**
   * A thread that waits for a lock sleeps, and the sleep uses up the permit of an unpark. So the
   * timer thread may check the first stripe, sleep at the lock of the second, and miss the wake-up
   * for a new timeout on the first.
   */
  @Test
  @Tag("promise-27")
  void wakeUpDuringNapIsNotLost() throws Exception {
    ExecutorService producer = threadOfFirstStripe();
    addTo(stripes[1], 100);

    workerThread.start();
    Await.until("a nap", () -> LockSupport.getBlocker(workerThread) == stripes[1]);
    long before = naps();
    producer.submit(() -> engine.start(timeout -> {}, 5, TimeUnit.NANOSECONDS)).get();
    Await.until("naps", () -> naps() >= before + 3);
    release.countDown();

    assertThat(parks.take()).isEqualTo(5);
  }

  private void addTo(Stripe stripe, long deadlineNanos) {
    stripe.add(new WheelTimeout(timeout -> {}, stripe, deadlineNanos), deadlineNanos, 0);
  }

  /**
   * Returns how often the timer thread has slept. The JVM counts, because another thread that
   * watches does not see every sleep.
   */
  private long naps() {
    return ManagementFactory.getThreadMXBean().getThreadInfo(workerThread.getId()).getWaitedCount();
  }

  private ExecutorService threadOfFirstStripe() throws Exception {
    while (true) {
      ExecutorService thread = Executors.newSingleThreadExecutor();
      threads.add(thread);
      WheelTimeout timeout =
          (WheelTimeout)
              thread.submit(() -> engine.start(t -> {}, 100, TimeUnit.NANOSECONDS)).get();
      if (timeout.stripe == stripes[0]) {
        return thread;
      }
    }
  }

  private static Stripe[] stripes(Engine engine) {
    try {
      return (Stripe[])
          MethodHandles.privateLookupIn(Engine.class, MethodHandles.lookup())
              .findGetter(Engine.class, "stripes", Stripe[].class)
              .invoke(engine);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  /**
   * A clock that stands still. It takes the lock when the timer thread has run the due tasks and is
   * about to plan.
   */
  private final class Clock implements TimeSource {
    @Override
    public long nanoTime() {
      if (Thread.currentThread() == workerThread && readings.incrementAndGet() == 2) {
        HoldingDrain.hold(stripes[1], release);
      }
      return 0;
    }

    @Override
    public void parkUntil(long deadlineNanos, Object blocker) {
      parks.add(deadlineNanos);
      LockSupport.park(blocker);
    }
  }
}
