// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;

/**
 * Limits the threads that requests occupy, so that others remain for probes while requests wait for
 * a store that does not answer. A request runs on the thread that brings it; if the limit is
 * reached, it queues for a thread that has finished another one.
 */
final class RequestThreads {
  private final Semaphore free;
  private final Queue<Runnable> queued = new ConcurrentLinkedQueue<>();

  RequestThreads(int max) {
    free = new Semaphore(max);
  }

  /**
   * Runs a task now, or when a thread has finished another one.
   *
   * @param task throws nothing
   */
  void run(Runnable task) {
    queued.add(task);
    // A task that is added after a thread has found the queue empty finds a permit.
    while (!queued.isEmpty() && free.tryAcquire()) {
      try {
        Runnable next = queued.poll();
        if (next != null) {
          next.run();
        }
      } finally {
        free.release();
      }
    }
  }
}
