// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timer;
import io.timewheel.concurrent.WheelScheduledExecutor;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Uses a {@link ScheduledExecutorService}, the JDK's interface for delayed and periodic tasks, on a
 * timer that other code may share.
 */
public final class ScheduledExecutor {
  private ScheduledExecutor() {}

  /**
   * Runs the example. It prints:
   *
   * <pre>
   * three heartbeats
   * cancelled: true
   * terminated: true
   * </pre>
   *
   * @param args none
   */
  public static void main(String[] args) throws InterruptedException {
    try (Timer timer = HierarchicalWheelTimer.create()) {
      ScheduledExecutorService scheduler = WheelScheduledExecutor.builder().timer(timer).build();

      CountDownLatch heartbeats = new CountDownLatch(3);
      ScheduledFuture<?> heartbeat =
          scheduler.scheduleAtFixedRate(heartbeats::countDown, 10, 10, TimeUnit.MILLISECONDS);
      heartbeats.await();
      System.out.println("three heartbeats");

      System.out.println("cancelled: " + heartbeat.cancel(false)); // and removed from the timer
      scheduler.shutdown();
      System.out.println("terminated: " + scheduler.awaitTermination(1, TimeUnit.MINUTES));
    }
  }
}
