// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.Timeout;
import io.timewheel.TimerTask;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/** Waits in its task until it is released, even if it is interrupted. */
final class Busy implements TimerTask {
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);
  private final AtomicBoolean ended = new AtomicBoolean();

  @Override
  public void run(Timeout timeout) {
    begun.countDown();
    while (released.getCount() > 0) {
      try {
        released.await();
      } catch (InterruptedException e) {
        // stop() interrupts this task once its shutdown timeout has elapsed. The task continues.
      }
    }
    ended.set(true);
  }

  void awaitBegin() throws InterruptedException {
    begun.await();
  }

  void release() {
    released.countDown();
  }

  boolean hasEnded() {
    return ended.get();
  }
}
