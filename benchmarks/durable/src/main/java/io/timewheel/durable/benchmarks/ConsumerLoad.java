// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.LeaseChange;
import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.TimerSpec;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Work alongside the timers whose lag is measured. */
final class ConsumerLoad implements AutoCloseable {
  private static final String NAMESPACE = "shop";
  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final long SLICE_NANOS = 5_000_000;

  private final DurableTimer scheduler;
  private final AtomicLong acks = new AtomicLong();
  private volatile boolean closed;

  ConsumerLoad(DurableTimer scheduler) {
    this.scheduler = scheduler;
  }

  long acks() {
    return acks.get();
  }

  /**
   * Starts consumers of one queue that never wait long. Each claims a timer, acks it, and schedules
   * another one that is due at once.
   */
  void busyConsumers(int count) {
    for (int i = 0; i < count; i++) {
      schedule(i);
      schedule(count + i);
      consume("busy", i);
    }
  }

  private void schedule(long number) {
    var unused =
        scheduler
            .async()
            .schedule(TimerSpec.of(NAMESPACE, "busy-" + number).queue("busy").after(Duration.ZERO));
  }

  /** Starts consumers that wait, each at its own queue, which stays empty. */
  void idleConsumers(int count) {
    for (int i = 0; i < count; i++) {
      consume("idle-" + i, i);
    }
  }

  private void consume(String queue, int consumer) {
    if (closed) {
      return;
    }
    try {
      var unused =
          scheduler
              .async()
              .queue(NAMESPACE, queue)
              .claim(1, LEASE, WAIT)
              .whenComplete((firings, failure) -> end(queue, consumer, firings));
    } catch (IllegalStateException e) {
      closed = true; // the durable timer is closed
    }
  }

  private void end(String queue, int consumer, List<QueueFiring> firings) {
    if (closed || firings == null || firings.isEmpty()) {
      consume(queue, consumer);
      return;
    }
    QueueFiring firing = firings.get(0);
    var unused =
        scheduler
            .async()
            .changeLease(LeaseChange.ack(firing.firing().fireId(), firing.leaseToken()))
            .whenComplete(
                (result, failure) -> {
                  acks.incrementAndGet();
                  String id = firing.firing().id();
                  schedule(Long.parseLong(id, id.indexOf('-') + 1, id.length(), 10));
                  consume(queue, consumer);
                });
  }

  /** Starts other work that uses this number of processors in total. */
  void otherWork(double processors) {
    int threads = (int) Math.ceil(processors);
    for (int i = 0; i < threads; i++) {
      Thread thread = new Thread(() -> spin(processors / threads), "other-work-" + i);
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void spin(double share) {
    while (!closed) {
      long begunNanos = System.nanoTime();
      while (System.nanoTime() - begunNanos < share * SLICE_NANOS) {
        Thread.onSpinWait();
      }
      LockSupport.parkNanos((long) ((1 - share) * SLICE_NANOS));
    }
  }

  @Override
  public void close() {
    closed = true;
  }
}
