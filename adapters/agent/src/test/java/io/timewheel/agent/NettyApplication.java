// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** An application without any reference to Timewheel. */
public final class NettyApplication {
  private NettyApplication() {}

  /**
   * Starts timeouts.
   *
   * @param arguments none
   */
  public static void main(String[] arguments) throws InterruptedException {
    HashedWheelTimer timer = new HashedWheelTimer();
    System.out.println("timer: " + timer);
    System.out.println("module: " + HashedWheelTimer.class.getModule());
    CountDownLatch ran = new CountDownLatch(100);
    for (int i = 0; i < 100; i++) {
      timer.newTimeout(timeout -> ran.countDown(), i, TimeUnit.MILLISECONDS);
    }
    ran.await();
    Timeout cancelled = timer.newTimeout(timeout -> {}, 1, TimeUnit.HOURS);
    System.out.println("cancelled: " + cancelled.cancel());
    Timeout left = timer.newTimeout(timeout -> {}, 1, TimeUnit.HOURS);
    System.out.println("left: " + timer.stop().equals(Set.of(left)));
  }
}
