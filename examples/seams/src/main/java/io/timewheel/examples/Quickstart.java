// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timeout;
import io.timewheel.Timer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/** Starts, reschedules and cancels timeouts, and stops the timer. */
public final class Quickstart {
  private Quickstart() {}

  /**
   * Runs the example. It prints:
   *
   * <pre>
   * moved: true
   * cancelled: true
   * cancelled once more: false
   * hello, 50 ms later
   * pending when stopped: 1
   * </pre>
   *
   * @param args none
   */
  public static void main(String[] args) throws InterruptedException {
    Timer timer = HierarchicalWheelTimer.create(); // one thread, ticks of 1 ms

    // Start: the task runs once, 50 ms from now, on the timer thread.
    CountDownLatch greeted = new CountDownLatch(1);
    timer.newTimeout(
        timeout -> {
          System.out.println("hello, 50 ms later");
          greeted.countDown();
        },
        Duration.ofMillis(50));

    // Reschedule: a message came in, so the connection is not idle. Nothing is allocated.
    Timeout idle =
        timer.newTimeout(timeout -> System.out.println("idle for 30 s"), Duration.ofSeconds(30));
    System.out.println("moved: " + idle.reschedule(Duration.ofSeconds(30)));

    // Cancel: true for one caller, and then the task never runs.
    System.out.println("cancelled: " + idle.cancel());
    System.out.println("cancelled once more: " + idle.cancel());

    // Stop: pending timeouts are cancelled and returned.
    timer.newTimeout(timeout -> System.out.println("a year later"), Duration.ofDays(365));
    greeted.await();
    Set<Timeout> pending = timer.stop();
    System.out.println("pending when stopped: " + pending.size());
  }
}
