// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import io.netty.util.HashedWheelTimer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Ends when its first timeout has run. Prints its heap if it has an argument. */
final class StartApplication {
  private StartApplication() {}

  public static void main(String[] arguments) throws Exception {
    HashedWheelTimer timer = new HashedWheelTimer();
    CountDownLatch ran = new CountDownLatch(1);
    timer.newTimeout(timeout -> ran.countDown(), 1, TimeUnit.MILLISECONDS);
    ran.await();
    if (arguments.length > 0) {
      WheelApplication.print("heap: %.2f MB", WheelApplication.heapBytes() / 1e6);
    }
    timer.stop();
  }
}
