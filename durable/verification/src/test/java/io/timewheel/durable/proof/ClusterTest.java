// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.proof.Cluster.Fault;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A short run of the cluster, and runs with a fault that must be found. */
class ClusterTest {
  private static final int MOST_TRIES = 10;

  private final DatabaseServer server = TestDatabases.postgresql();

  @TempDir Path directory;

  private Cluster.Report run(int seconds, Set<Fault> faults, String fault) throws Exception {
    Cluster.Plan plan =
        new Cluster.Plan(seconds, seconds, 3, 60_000, faults, System.nanoTime(), fault, directory);
    return new Cluster(plan, line -> {}).run(server);
  }

  @Test
  void losesNothing() throws Exception {
    Cluster.Report report = run(20, EnumSet.allOf(Fault.class), Log.NONE);
    assertThat(report.violations).isEmpty();
    assertThat(report.acknowledged).isPositive();
    assertThat(report.completed).isPositive();
  }

  private void assertFound(String fault, String violation) throws Exception {
    boolean found = false;
    for (int i = 0; i < MOST_TRIES && !found; i++) {
      found =
          run(6, EnumSet.of(Fault.KILL), fault).violations.stream()
              .anyMatch(text -> text.contains(violation));
    }
    assertThat(found).isTrue();
  }

  @Test
  void findsAStoreThatForgetsWhatItAcknowledged() throws Exception {
    assertFound("forgets", "neither fired nor there");
  }

  @Test
  void findsAStoreThatDoesNotRecordSuccesses() throws Exception {
    assertFound("repeats", "has begun");
  }
}
