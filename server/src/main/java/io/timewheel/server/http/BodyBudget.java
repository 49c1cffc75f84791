// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.problem.Problem;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Limits the memory of all request bodies together, and the time to receive one. */
final class BodyBudget {
  private final long maxBytes;
  private final Duration maxTime;
  private final AtomicLong bytes = new AtomicLong();

  BodyBudget(long maxBytes, Duration maxTime) {
    this.maxBytes = maxBytes;
    this.maxTime = maxTime;
  }

  /** Reserves the memory of a body, or refuses the request. */
  long reserve(long wanted) {
    if (bytes.addAndGet(wanted) > maxBytes) {
      bytes.addAndGet(-wanted);
      throw Problem.busy("as much is being received as fits into memory").failure();
    }
    return wanted;
  }

  void release(long reserved) {
    bytes.addAndGet(-reserved);
  }

  Duration maxTime() {
    return maxTime;
  }
}
