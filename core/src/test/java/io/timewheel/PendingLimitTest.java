// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the limit on pending timeouts. */
class PendingLimitTest {

  @Test
  void grantsExactlyTheLimitOfPermits() {
    PendingLimit limit = new PendingLimit(2);

    assertThat(limit.tryAcquire()).isTrue();
    assertThat(limit.tryAcquire()).isTrue();
    assertThat(limit.tryAcquire()).isFalse();

    limit.release(1);
    assertThat(limit.tryAcquire()).isTrue();
    assertThat(limit.tryAcquire()).isFalse();

    limit.release(2);
    assertThat(limit.tryAcquire()).isTrue();
  }

  @Test
  void messageNamesBothNumbers() {
    PendingLimit limit = new PendingLimit(1);
    assertThat(limit.tryAcquire()).isTrue();

    assertThat(limit.exceeded())
        .hasMessage("pending timeouts: 1 (expected: less than maxPendingTimeouts, 1)");
  }

  @Test
  @Tag("promise-18")
  void isExactUnderContention() {
    int permits = 3;
    PendingLimit limit = new PendingLimit(permits);
    AtomicInteger held = new AtomicInteger();
    AtomicInteger mostHeld = new AtomicInteger();

    Concurrently.run(
        4,
        thread ->
            () -> {
              for (int i = 0; i < 500_000; i++) {
                if (limit.tryAcquire()) {
                  mostHeld.accumulateAndGet(held.incrementAndGet(), Math::max);
                  held.decrementAndGet();
                  limit.release(1);
                }
              }
            });

    assertThat(mostHeld.get()).isBetween(1, permits);
    for (int i = 0; i < permits; i++) {
      assertThat(limit.tryAcquire()).as("permit %s is back", i).isTrue();
    }
    assertThat(limit.tryAcquire()).isFalse();
  }

  /** There are as many threads as permits: every refusal would be wrong. */
  @Test
  void refusesNoThreadBelowTheLimit() {
    int threads = 4;
    PendingLimit limit = new PendingLimit(threads);

    Concurrently.run(
        threads,
        thread ->
            () -> {
              for (int i = 0; i < 500_000; i++) {
                if (!limit.tryAcquire()) {
                  throw new AssertionError("refused while fewer than the limit were held");
                }
                limit.release(1);
              }
            });
  }
}
