// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import io.timewheel.durable.internal.attempt.PauseGate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Predicate;

/**
 * Hands claimed timers to consumers. A claim may be committed just before a pause of its queue and
 * answered just after it. Such timers are not handed over. Thread-safe.
 */
public final class HandOver {
  /**
   * Limits the wait of a pause, because a consumer that pauses while it takes timers must not wait
   * for itself.
   */
  private static final long MAX_WAIT_MILLIS = 1_000;

  private final PauseGate gate;

  /** Threads that hand over timers share it. A pause waits until it is free. */
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

  public HandOver(PauseGate gate) {
    this.gate = gate;
  }

  /**
   * Hands over those timers whose queue was not paused since they were claimed.
   *
   * @param consumer takes the timers; returns false if it takes none
   * @return the timers that no consumer has taken
   */
  public List<ClaimedTimer> give(
      List<ClaimedTimer> claimed, Predicate<List<ClaimedTimer>> consumer) {
    lock.readLock().lock();
    try {
      List<ClaimedTimer> admitted = new ArrayList<>(claimed.size());
      List<ClaimedTimer> left = new ArrayList<>();
      for (ClaimedTimer timer : claimed) {
        (gate.admits(timer.queue(), timer.pausesBefore()) ? admitted : left).add(timer);
      }
      return consumer.test(admitted) ? left : claimed;
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Waits for the consumers that were admitted before a pause, but not for the calling thread. */
  public void settle() {
    if (lock.getReadHoldCount() > 0) {
      return;
    }
    try {
      if (lock.writeLock().tryLock(MAX_WAIT_MILLIS, TimeUnit.MILLISECONDS)) {
        lock.writeLock().unlock();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
