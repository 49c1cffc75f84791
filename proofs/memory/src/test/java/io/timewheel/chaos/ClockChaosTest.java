// SPDX-License-Identifier: Apache-2.0
package io.timewheel.chaos;

import io.timewheel.testing.Seed;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests timers on clocks that stall, jump, fall back and wrap around, with every length of tick and
 * size of wheel. {@link ChaosRun} lists the requirements. Only this class combines these faults of
 * clocks at random.
 *
 * <p>{@code -Dtimewheel.chaos.operations=} sets the number of operations for each kind of timer,
 * and {@link Seed} the programs.
 */
class ClockChaosTest {
  private static final long OPERATIONS_OF_THE_BUILD = 30_000;
  private static final long OPERATIONS_OF_THE_PROOF = 120_000;
  private static final int STEPS = 150;

  @ParameterizedTest
  @EnumSource
  void timersMeetTheRequirementsOnChaoticClocks(ChaosTimers kind) throws InterruptedException {
    run(kind, Seed.get(), OPERATIONS_OF_THE_BUILD);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource
  void timersMeetTheRequirementsInOtherPrograms(ChaosTimers kind) throws InterruptedException {
    run(kind, Seed.get() + (1L << 32), OPERATIONS_OF_THE_PROOF);
  }

  private static void run(ChaosTimers kind, long seed, long operationsByDefault)
      throws InterruptedException {
    long operations = Long.getLong("timewheel.chaos.operations", operationsByDefault);
    long startNanos = System.nanoTime();
    long timeouts = 0;
    long timers = 0;
    for (; timers * STEPS < operations; timers++) {
      ChaosRun run = new ChaosRun(kind, seed + timers);
      try {
        timeouts += run.run(STEPS);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(
            "seed " + (seed + timers) + ", " + e + "\n" + String.join("\n", run.log()), e);
      }
    }
    System.out.printf(
        "clock chaos: %,d timers (%s), %,d operations, %,d timeouts in %,d ms, seed %d%n",
        timers, kind, timers * STEPS, timeouts, (System.nanoTime() - startNanos) / 1_000_000, seed);
  }
}
