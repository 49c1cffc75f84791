// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.History;
import io.timewheel.durable.testkit.HistoryChecker;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Verifies that random runs of a cluster have no violation. {@link SimulationFaultsTest} verifies
 * that faults are found. {@code -Dtimewheel.simulation.minutes=N} runs new seeds for N minutes,
 * {@code -Dtimewheel.simulation.seed=S} repeats one.
 */
@Tag("promise-38")
@Tag("promise-39")
@Tag("promise-40")
class SimulationTest {
  static final int STEPS = 400;

  @Test
  void keepsEveryPromiseUnderFaultsKillsAndSkew() {
    Long repeated = Long.getLong("timewheel.simulation.seed");
    if (repeated != null) {
      assertKept(repeated);
      return;
    }
    for (long seed = 1; seed <= 60; seed++) {
      assertKept(seed);
    }
    long minutes = Long.getLong("timewheel.simulation.minutes", 0);
    long beginNanos = System.nanoTime();
    long seed = beginNanos;
    while (System.nanoTime() - beginNanos < TimeUnit.MINUTES.toNanos(minutes)) {
      assertKept(seed++);
    }
    if (minutes > 0) {
      System.out.println((seed - beginNanos) + " simulations from seed " + beginNanos);
    }
  }

  private static void assertKept(long seed) {
    try {
      assertThat(new Simulation(seed).run(STEPS)).isEmpty();
    } catch (Throwable e) {
      throw new AssertionError("-Dtimewheel.simulation.seed=" + seed, e);
    }
  }

  /** The store refuses a try as transient after an earlier try that it may have committed. */
  @Test
  void treatsAnAnswerAsUnknownForAnyCause() {
    assertKept(21_869_905_125_100L);
  }

  /** A run that its handler postponed, followed by a run by hand. */
  @Test
  void givesNoRunByHandAFutureTime() {
    assertKept(40_062_647_662_096L);
  }

  @Test
  void givesTheSameRunForTheSameSeed() {
    UnaryOperator<TimerStore> faulty = SimulationFaultsTest.NothingIsStored::new;
    assertThat(new Simulation(7, faulty).run(STEPS))
        .isEqualTo(new Simulation(7, faulty).run(STEPS));
  }

  @Test
  void acceptsAnEmptyHistory() {
    assertThat(new HistoryChecker(0).check(new History(), Map.of())).isEmpty();
  }
}
