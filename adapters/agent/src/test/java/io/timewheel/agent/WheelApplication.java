// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import com.sun.management.OperatingSystemMXBean;
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Prints the cost of timeouts and of idle timers, for {@link Figures}. */
final class WheelApplication {
  private static final int TIMEOUTS = 1_000_000;
  private static final int IDLE_TIMERS = 50;
  private static final int ROUNDS = 3;

  private WheelApplication() {}

  public static void main(String[] arguments) throws Exception {
    idleTimers();
    HashedWheelTimer timer = new HashedWheelTimer();
    startAndCancel(timer);
    long cpu = cpuNanos();
    long nanos = startAndCancel(timer);
    double timeouts = 2.0 * ROUNDS * TIMEOUTS;
    print("time: %.0f ns", nanos / timeouts);
    print("CPU: %.0f ns", (cpuNanos() - cpu) / timeouts);
    expire(timer);
    print("expiry: %.0f ns", expire(timer) / (double) TIMEOUTS);

    Timeout[] pending = new Timeout[TIMEOUTS];
    long heap = heapBytes();
    Arrays.setAll(pending, i -> timer.newTimeout(timeout -> {}, 1, TimeUnit.HOURS));
    awaitIdle(timer);
    print("heap: %.0f bytes", (heapBytes() - heap) / (double) pending.length);
    timer.stop();
  }

  private static void idleTimers() throws InterruptedException {
    List<HashedWheelTimer> idle =
        Stream.generate(() -> new HashedWheelTimer(new DefaultThreadFactory("idle", true)))
            .limit(IDLE_TIMERS)
            .toList();
    idle.forEach(HashedWheelTimer::start);
    long cpu = cpuNanos();
    Thread.sleep(5_000);
    print("idle: %.1f ms", (cpuNanos() - cpu) / 1e6);
    idle.forEach(HashedWheelTimer::stop);
  }

  /**
   * Starts and cancels timeouts from two threads, and waits until the timer has removed them.
   * Returns the time without the wait.
   */
  private static long startAndCancel(HashedWheelTimer timer) throws InterruptedException {
    Runnable work =
        () -> {
          for (int i = 0; i < TIMEOUTS; i++) {
            timer.newTimeout(timeout -> {}, 30, TimeUnit.SECONDS).cancel();
          }
        };
    long nanos = 0;
    for (int round = 0; round < ROUNDS; round++) {
      long start = System.nanoTime();
      Thread other = new Thread(work);
      other.start();
      work.run();
      other.join();
      nanos += System.nanoTime() - start;
      awaitIdle(timer);
    }
    return nanos;
  }

  /**
   * Lets timeouts expire during a second. Returns the CPU time that the timer's thread needs for
   * that, once it has taken all of them from its queue.
   */
  private static long expire(HashedWheelTimer timer) throws InterruptedException {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    CountDownLatch expired = new CountDownLatch(1);
    long[] nanos = new long[2];
    int[] left = {TIMEOUTS}; // only the timer's thread uses it
    TimerTask task =
        timeout -> {
          if (--left[0] == 0) {
            nanos[1] = threads.getCurrentThreadCpuTime();
            expired.countDown();
          }
        };
    for (int i = 0; i < TIMEOUTS; i++) {
      timer.newTimeout(task, 3_000 + i % 1_000, TimeUnit.MILLISECONDS);
    }
    timer.newTimeout(timeout -> nanos[0] = threads.getCurrentThreadCpuTime(), 0, TimeUnit.SECONDS);
    expired.await();
    return nanos[1] - nanos[0];
  }

  /**
   * Waits until the timer's thread has taken all timeouts from its queue. The queue is in order, so
   * the last one suffices.
   */
  private static void awaitIdle(HashedWheelTimer timer) throws InterruptedException {
    CountDownLatch ran = new CountDownLatch(1);
    timer.newTimeout(timeout -> ran.countDown(), 0, TimeUnit.SECONDS);
    ran.await();
  }

  private static long cpuNanos() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  static long heapBytes() {
    System.gc();
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  static void print(String format, double value) {
    System.out.println(String.format(Locale.ROOT, format, value));
  }
}
