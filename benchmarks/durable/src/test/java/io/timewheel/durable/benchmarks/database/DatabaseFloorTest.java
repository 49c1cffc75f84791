// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks.database;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.testing.TestDatabases;
import org.junit.jupiter.api.Test;

class DatabaseFloorTest {
  /** Four connections divide them into complete batches. */
  private static final int TIMERS = 4_000;

  @Test
  void measuresEverything() throws Exception {
    assertThat(new DatabaseFloor(TestDatabases.postgresql()).measure(TIMERS, 1).lines())
        .hasSize(2 + 22);
  }
}
