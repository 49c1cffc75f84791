// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class PauseGateTest {
  private static final int ROUNDS = 100_000;

  private final PauseGate gate = new PauseGate();
  private final CyclicBarrier round = new CyclicBarrier(2);

  /** Two nodes pause the same scope. The gate must remember the later pause. */
  @Test
  @Timeout(60)
  void concurrentPausesOfAScopeAreNotLost() throws Exception {
    Thread other = new Thread(this::pauseInEachRound);
    other.start();
    int lost = 0;
    for (int i = 0; i < ROUNDS; i++) {
      round.await();
      gate.paused("ns");
      round.await();
      lost += gate.admits("ns", gate.pauses() - 1) ? 1 : 0;
    }
    other.join();
    assertThat(lost).isZero();
  }

  private void pauseInEachRound() {
    try {
      for (int i = 0; i < ROUNDS; i++) {
        round.await();
        gate.paused("ns");
        round.await();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
