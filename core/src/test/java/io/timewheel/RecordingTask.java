// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import io.timewheel.testing.Await;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A task that records when and where it was called. Any number of timeouts may share it. */
final class RecordingTask implements TimerTask {
  /** The readings of the clock at which it ran. */
  final Queue<Long> ranAtNanos = new ConcurrentLinkedQueue<>();

  /** How long after its deadline it ran. */
  final Queue<Long> lagsNanos = new ConcurrentLinkedQueue<>();

  final Queue<Timeout> ran = new ConcurrentLinkedQueue<>();
  final Queue<Timeout> cancelled = new ConcurrentLinkedQueue<>();
  final Queue<Thread> threads = new ConcurrentLinkedQueue<>();
  private final TimeSource clock;
  private final CountDownLatch firstRun = new CountDownLatch(1);

  RecordingTask(TimeSource clock) {
    this.clock = clock;
  }

  @Override
  public void run(Timeout timeout) {
    ranAtNanos.add(clock.nanoTime());
    lagsNanos.add(-timeout.remaining(TimeUnit.NANOSECONDS));
    threads.add(Thread.currentThread());
    ran.add(timeout);
    firstRun.countDown();
  }

  @Override
  public void cancelled(Timeout timeout) {
    threads.add(Thread.currentThread());
    cancelled.add(timeout);
  }

  int runs() {
    return ran.size();
  }

  void awaitRun() {
    Await.zero(firstRun);
  }

  void awaitRuns(int runs) {
    Await.until(runs + " runs", () -> ran.size() >= runs);
  }

  @Override
  public String toString() {
    return "recording";
  }
}
