// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.testing.Await;
import java.util.concurrent.CountDownLatch;

/** Helps tests with threads. */
final class Threads {
  private Threads() {}

  /** Waits for a latch, and ignores interrupts. */
  static void await(CountDownLatch latch) {
    while (latch.getCount() > 0) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        // Only the latch ends the wait.
      }
    }
  }

  /** Starts a thread, and returns once it waits. */
  static Thread startAndAwaitWaiting(Runnable work) {
    Thread thread = new Thread(work);
    thread.start();
    Await.until(
        () ->
            thread.getState() == Thread.State.WAITING
                || thread.getState() == Thread.State.TIMED_WAITING);
    return thread;
  }
}
