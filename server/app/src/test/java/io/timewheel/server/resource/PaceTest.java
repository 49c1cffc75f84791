// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Tests the pace of bulk changes, on a clock that the test moves. */
class PaceTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  @Test
  void aMillionPiecesTakeTheirTimeAndUnusedTimeIsNotSavedUp() {
    AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - SECOND); // overflows meanwhile
    Pace pace = new Pace(20_000, nanos::get);
    long waited = 0;
    for (int i = 0; i < 1_000; i++) {
      long wait = pace.reserve(1_000);
      waited += wait;
      nanos.addAndGet(wait);
    }
    assertThat(waited).isEqualTo(999 * SECOND / 20);

    nanos.addAndGet(TimeUnit.HOURS.toNanos(1));
    assertThat(pace.reserve(1_000)).isZero();
    assertThat(pace.reserve(500)).isEqualTo(SECOND / 20);
    assertThat(pace.reserve(500)).isEqualTo(SECOND / 20 + SECOND / 40);
  }
}
