// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.testing.Seed;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A short run of the kills, and runs with a fault that must be found. Only this class kills
 * applications with a RocksDB store at any moment, and checks their calls, answers and attempts.
 */
@Tag("proof")
@Execution(ExecutionMode.CONCURRENT)
@Tag("promise-38")
class KillsTest {
  /** Whether a fault has an effect depends on the moment of the kill. */
  private static final int MOST_TRIES = 20;

  @TempDir Path directory;
  private int runs;

  private Kills.Report kills(int rounds, int life, int skewMillis, String fault) throws Exception {
    long seed = Seed.get() + runs; // the moments of the kills differ all the same
    Path stores = directory.resolve("run-" + ++runs);
    Kills.Plan plan = new Kills.Plan(rounds, 0, life, 2, skewMillis, 0, seed, fault, stores);
    System.out.println(plan); // with the seed
    return new Kills(plan, line -> {}).run();
  }

  @Test
  void losesNothing() throws Exception {
    Kills.Report report = kills(10, 5, 0, Log.NONE);
    assertThat(report.violations).isEmpty();
    assertThat(report.rounds()).isEqualTo(10);
    assertThat(report.acknowledged).isPositive();
    assertThat(report.completed).isPositive();
  }

  @Test
  void losesNothingUnderAClockThatJumps() throws Exception {
    assertThat(kills(4, 2, 2_000, Log.NONE).violations).isEmpty();
  }

  private void assertFound(String fault, String... violations) throws Exception {
    boolean found = false;
    while (!found && runs < MOST_TRIES) {
      found =
          kills(2, 2, 0, fault).violations.stream()
              .anyMatch(text -> Stream.of(violations).anyMatch(text::contains));
    }
    assertThat(found).isTrue();
  }

  @Test
  void findsAStoreThatPersistsNothing() throws Exception {
    assertFound(Stores.MEMORY, "neither fired nor in the store");
  }

  @Test
  void findsAStoreThatLosesItsLastCommits() throws Exception {
    // A schedule, an end, or a cancellation.
    assertFound(
        Kills.CUT,
        "neither fired nor in the store",
        "begun again after its success was recorded",
        "begun after the answer, expected at most 0");
  }

  @Test
  void findsAStoreThatLosesCommittedChanges() throws Exception {
    assertFound("forgets", "neither fired nor in the store");
  }

  @Test
  void findsAStoreThatDoesNotRecordSuccesses() throws Exception {
    assertFound("repeats", "begun again after its success was recorded");
  }
}
