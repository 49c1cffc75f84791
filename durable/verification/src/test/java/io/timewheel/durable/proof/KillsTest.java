// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A short run of the kills, and runs with a fault that must be found. */
class KillsTest {
  private static final long SEED = 1;

  @TempDir Path directory;

  private Kills.Report kills(int rounds, int parallel, String fault) throws Exception {
    return new Kills(new Kills.Plan(rounds, 100, parallel, 0, SEED, fault, directory)).run();
  }

  @Test
  void findsAStoreThatKeepsNothing() throws Exception {
    assertThat(kills(4, 1, Stores.MEMORY).violations)
        .anySatisfy(found -> assertThat(found).contains("neither fired nor there"));
  }
}
