// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class AttemptStartTest {
  private static final long MAX_EARLY = 1_000;

  @Test
  void startsNoAttemptEarlyStoppedOrLost() {
    Random random = new Random(1);
    for (int i = 0; i < 100_000; i++) {
      boolean lost = random.nextInt(4) == 0;
      boolean stopped = random.nextInt(4) == 0;
      long early = random.nextInt(5_000) - 2_500L;
      AttemptStart start = AttemptStart.decide(lost, stopped, early, MAX_EARLY);
      assertThat(start == AttemptStart.LOST).isEqualTo(lost);
      assertThat(start == AttemptStart.NOW).isEqualTo(!lost && !stopped && early <= 0);
      if (start == AttemptStart.LATER) {
        assertThat(stopped).isFalse();
        assertThat(early).isBetween(1L, MAX_EARLY);
      }
    }
  }
}
