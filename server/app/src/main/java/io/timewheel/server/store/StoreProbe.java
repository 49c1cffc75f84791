// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.store;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

/**
 * Observes whether the store answers. It reads once a second, outside all queues of requests. So
 * neither their number nor a blocked call delays the result. After a failed write, it also writes
 * once a second until a write succeeds: a full disk can be read.
 */
public final class StoreProbe {
  /** The time between two reads. */
  public static final Duration PERIOD = Duration.ofSeconds(1);

  /** The store counts as unavailable if no read has succeeded for this long. */
  public static final Duration LIMIT = Duration.ofSeconds(5);

  /** The key of a timer that need not exist, because the store answers in either case. */
  private static final String NAME = "timewheel-probe";

  private final StoreReads reads;
  private final LongSupplier nanoTime;
  private volatile long answeredAtNanos;
  private volatile CompletableFuture<?> write = CompletableFuture.completedFuture(null);

  public StoreProbe(StoreReads reads, LongSupplier nanoTime) {
    this.reads = reads;
    this.nanoTime = nanoTime;
    answeredAtNanos = nanoTime.getAsLong() - LIMIT.toNanos();
  }

  /** Reads the store, and returns when it has answered or failed. Does not wait for a write. */
  public void read() {
    if (!reads.isServing()) {
      return;
    }
    DurableTimer timer = reads.timer();
    try {
      var unused = timer.timer(NAME, NAME).get();
      answeredAtNanos = nanoTime.getAsLong();
      if (!timer.stats().storeAvailable() && write.isDone()) {
        RequestId request = RequestId.of(UUID.randomUUID().toString()); // a new one is written
        TimerKey key = new TimerKey(NAME, NAME);
        write = timer.async().keepAnswer(key, request, OptionalLong.of(0)).toCompletableFuture();
      }
    } catch (RuntimeException e) {
      // The engine logs the failure once.
    }
  }

  /** {@return whether no recent call has failed, and a read has succeeded within {@link #LIMIT}} */
  public boolean isAvailable() {
    return reads.timer().stats().storeAvailable() && isAnswering();
  }

  /** {@return whether a read has succeeded within {@link #LIMIT}} */
  public boolean isAnswering() {
    return nanoTime.getAsLong() - answeredAtNanos < LIMIT.toNanos();
  }
}
