// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.proof.Cluster.Fault;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A short run of the cluster, and runs with faults that must be found. Only this class kills and
 * restarts nodes and the server while all kinds of calls are in progress, and judges every answer.
 * Its clusters on both databases run at the same time, each on its own server.
 */
@Tag("proof")
@Execution(ExecutionMode.CONCURRENT)
class ClusterTest {
  private static final int MAX_RUNS = 10;

  /** The faults that end soon. */
  private static final Set<Fault> FAULTS =
      EnumSet.complementOf(EnumSet.of(Fault.ZOMBIE, Fault.REFUSE, Fault.SILENCE));

  private final DatabaseServer server = server();

  @TempDir Path directory;

  /** Creates a server, because the test crashes it. */
  DatabaseServer server() {
    DatabaseServer unused = TestDatabases.postgresql(); // or the test is skipped
    return DatabaseServer.postgresql();
  }

  @BeforeEach
  void start() {
    server.sync(false).start();
  }

  @AfterEach
  void close() {
    server.close();
  }

  private Cluster.Report run(int seconds, Set<Fault> faults, String broken) throws Exception {
    Cluster.Plan plan =
        new Cluster.Plan(seconds, seconds, 3, 60_000, faults, System.nanoTime(), broken, directory);
    System.out.println(plan); // with the seed
    return new Cluster(plan, line -> {}).run(server);
  }

  @Test
  void losesNothing() throws Exception {
    Cluster.Report report = run(10, FAULTS, Log.NONE);
    assertThat(report.violations).isEmpty();
    assertThat(report.acknowledged).isPositive();
    assertThat(report.completed).isPositive();
    assertThat(report.effects).isPositive();
  }

  @Test
  void findsLostTimersUnrecordedSuccessesAndEffectsOutsideTheTransaction() throws Exception {
    boolean forgets = false;
    boolean repeats = false;
    boolean outside = false;
    for (int i = 0; i < MAX_RUNS && !(forgets && repeats && outside); i++) {
      for (String text : run(2, EnumSet.of(Fault.KILL), "forgets+repeats+outside").violations) {
        forgets |= text.contains("neither fired nor in the store");
        repeats |= text.contains("has begun");
        outside |= text.contains("the effects of the attempts");
      }
    }
    assertThat(forgets).isTrue();
    assertThat(repeats).isTrue();
    assertThat(outside).isTrue();
  }
}
