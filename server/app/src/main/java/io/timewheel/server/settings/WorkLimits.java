// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import java.time.Duration;

/**
 * The limits of the work for requests, and of the memory of their answers.
 *
 * @param longAtATime the number of requests that may read many timers at a time
 * @param shortAtATime the number of requests that may read or change a few timers at a time
 * @param maxWaiting the number of requests that may wait to read or change many timers; half of
 *     them of one client
 * @param maxWait the longest wait of a request for its turn
 * @param maxAnswerBytes the number of bytes of answers that may wait for their clients
 * @param maxStall the longest time for a client to accept a part of an answer or of a stream
 * @param storeTimeout the time within which the store must answer a request
 */
public record WorkLimits(
    int longAtATime,
    int shortAtATime,
    int maxWaiting,
    Duration maxWait,
    long maxAnswerBytes,
    Duration maxStall,
    Duration storeTimeout) {
  /** The default store timeout. */
  public static final Duration STORE_TIMEOUT = Duration.ofSeconds(10);

  /** The number of requests that may read the metrics at a time. */
  public static final int SCRAPES = 2;

  /** The number of requests that may change many timers, or copy the store, at a time. */
  public static final int BULKS = 4;

  /** The number of threads for connections, probes and claims. */
  private static final int FREE_THREADS = 22;

  private static final long LEAST_ANSWER_BYTES = 32L << 20;

  /** {@return the number of threads, some of which stay free even if all others are blocked} */
  public int threads() {
    return longAtATime + shortAtATime + SCRAPES + BULKS + FREE_THREADS;
  }

  /** {@return the limits for a server with a directory or a database} */
  public static WorkLimits standard() {
    return new WorkLimits(
        Math.max(4, Runtime.getRuntime().availableProcessors()),
        32,
        256,
        Duration.ofSeconds(10),
        Math.max(LEAST_ANSWER_BYTES, Runtime.getRuntime().maxMemory() / 8),
        Duration.ofSeconds(10),
        STORE_TIMEOUT);
  }

  /** {@return these limits with another store timeout} */
  public WorkLimits withStoreTimeout(Duration timeout) {
    return new WorkLimits(
        longAtATime, shortAtATime, maxWaiting, maxWait, maxAnswerBytes, maxStall, timeout);
  }
}
