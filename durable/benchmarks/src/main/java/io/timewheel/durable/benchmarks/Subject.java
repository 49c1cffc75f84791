// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;

/** A durable timer, a peer of it or a bare store, as the workloads use it. */
interface Subject extends AutoCloseable {
  /** What is scheduled: an id of 16 characters and a time. */
  record Order(String id, long dueMillis) {
    private static final int RANDOM_BYTES = 48;

    static Order of(long number, long dueMillis) {
      String digits = Long.toString(number);
      return new Order("order-" + "0".repeat(10 - digits.length()) + digits, dueMillis);
    }

    /** 64 characters that no compression makes much of, the same for the same id. */
    String payload() {
      byte[] bytes = new byte[RANDOM_BYTES];
      new Random(id.hashCode()).nextBytes(bytes);
      return Base64.getEncoder().encodeToString(bytes);
    }

    byte[] payloadBytes() {
      return payload().getBytes(StandardCharsets.ISO_8859_1);
    }
  }

  /** Called by the handler, when it is called: by any thread. */
  @FunctionalInterface
  interface OnFire {
    void fired(String id);
  }

  /** Opens a subject on the place of the measurement, which may have data in it. */
  @FunctionalInterface
  interface Opener {
    Subject open(OnFire onFire) throws Exception;
  }

  /** Schedules; returns when everything is acknowledged. One order goes the way of single calls. */
  void schedule(List<Order> orders) throws Exception;

  /** Schedules; the stage completes when it is acknowledged. */
  default CompletionStage<?> scheduleAsync(Order order) {
    throw new UnsupportedOperationException();
  }

  /** Makes recurring timers of these, which fire first at their time; returns as schedule does. */
  default void recur(List<Order> orders, Duration every) throws Exception {
    throw new UnsupportedOperationException();
  }

  /** How many single timers are not recorded as done, where that happens after their handler. */
  default long unfinished() throws Exception {
    return 0;
  }

  /** Cancels; returns when everything is acknowledged. */
  default void cancel(List<String> ids) throws Exception {
    throw new UnsupportedOperationException();
  }

  /** What it knows about its files: bytes that wait for compaction, or -1. */
  default long pendingCompactionBytes() {
    return -1;
  }

  @Override
  void close();
}
