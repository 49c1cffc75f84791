// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;

/**
 * A scheduler of durable timers, one of its peers, or a bare store, in the form that the workloads
 * use.
 */
interface Subject extends AutoCloseable {
  /** An order for a timer: an ID of 16 characters and a time. */
  record Order(String id, long dueMillis) {
    private static final int RANDOM_BYTES = 48;

    static Order of(long number, long dueMillis) {
      String digits = Long.toString(number);
      return new Order("order-" + "0".repeat(10 - digits.length()) + digits, dueMillis);
    }

    /** Returns 64 characters that hardly compress, the same for the same ID. */
    String payload() {
      byte[] bytes = new byte[RANDOM_BYTES];
      new Random(id.hashCode()).nextBytes(bytes);
      return Base64.getEncoder().encodeToString(bytes);
    }

    byte[] payloadBytes() {
      return payload().getBytes(StandardCharsets.ISO_8859_1);
    }
  }

  /** Called by the handler of each firing, on any thread. */
  @FunctionalInterface
  interface OnFire {
    void fired(String id);
  }

  /** Opens a subject at the location of the measurement, which may contain data. */
  @FunctionalInterface
  interface Opener {
    Subject open(OnFire onFire) throws Exception;
  }

  /** Schedules timers, and returns after the commit. One order is a single call. */
  void schedule(List<Order> orders) throws Exception;

  /** Schedules a timer. The stage completes after the commit. */
  default CompletionStage<?> scheduleAsync(Order order) {
    throw new UnsupportedOperationException();
  }

  /** Schedules recurring timers, whose first run is at their time. Returns after the commit. */
  default void recur(List<Order> orders, Duration every) throws Exception {
    throw new UnsupportedOperationException();
  }

  /**
   * Returns the number of single timers whose completion is not recorded, if that happens after
   * their handler.
   */
  default long unfinished() throws Exception {
    return 0;
  }

  /** Cancels timers, and returns after the commit. */
  default void cancel(List<String> ids) throws Exception {
    throw new UnsupportedOperationException();
  }

  /** Returns the bytes that wait for compaction; -1 if they are unknown. */
  default long pendingCompactionBytes() {
    return -1;
  }

  @Override
  void close();
}
