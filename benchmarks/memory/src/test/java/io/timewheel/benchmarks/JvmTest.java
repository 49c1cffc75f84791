// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.benchmarks.results.Results;
import io.timewheel.benchmarks.results.Run;
import io.timewheel.benchmarks.subjects.SubjectKind;
import io.timewheel.benchmarks.workloads.Parameters;
import io.timewheel.benchmarks.workloads.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Tests measurements in separate JVMs. Only this class proves that a full heap, a failure and a
 * measurement that takes too long end one JVM, and that the rest of the plan is measured.
 */
@Tag("proof")
@Execution(ExecutionMode.CONCURRENT)
class JvmTest {
  private static final Path JDK = Path.of(System.getProperty("java.home"));

  /** A negative number of timeouts, which no array can have. */
  private static final Parameters IMPOSSIBLE = new Parameters(1, -1, 1, 2, 1_000_000, 0, 0);

  @TempDir Path directory;

  @Test
  void failuresAreRecordedAndTheRestIsMeasured() throws Exception {
    List<Case> plan = new ArrayList<>(Plan.smoke());
    plan.removeIf(
        aCase -> aCase.workload() != Workload.EXPIRE && !aCase.variant().equals("2 threads"));
    plan.add(0, new Case(Workload.LOAD, "impossible", IMPOSSIBLE, 1, 1, 1));
    Set<SubjectKind> subjects = EnumSet.of(SubjectKind.NETTY41, SubjectKind.EMPTY);
    Path file = directory.resolve("results.json");

    Path written =
        Benchmarks.run(
            new Options(
                true, EnumSet.allOf(Workload.class), "", subjects, true, 0, JDK, file, false),
            plan);

    assertThat(written).isEqualTo(file);
    Results results = Results.read(file);
    assertThat(results.mode()).isEqualTo("quick");
    assertThat(results.jdk().version()).isEqualTo(System.getProperty("java.runtime.version"));
    assertThat(results.subjects()).hasSize(2);
    assertThat(results.runs()).hasSize(2 * plan.size());
    for (Run run : results.runs()) {
      if (run.subject().equals("empty")) {
        assertThat(run.absent()).isNotNull();
      } else if (run.variant().equals("impossible")) {
        assertThat(run.failed()).contains("NegativeArraySizeException");
      } else {
        assertThat(run.metrics()).as(run.failed()).isNotEmpty();
      }
    }
  }

  @Test
  void heapMayBeFullTemporarily() throws Exception {
    Case littleMemory =
        Plan.smoke().stream()
            .filter(aCase -> aCase.workload() == Workload.LITTLE_MEMORY)
            .findFirst()
            .orElseThrow();

    Jvm.Answer answer = new Jvm(Options.java(JDK)).measure(littleMemory, SubjectKind.TIMEWHEEL);

    assertThat(answer.failure()).isNull();
    assertThat(answer.lines()).containsEntry("lost", "0.0").containsEntry("afterwards", "1.0");
  }

  @Test
  void measurementThatTakesTooLongIsEnded() throws Exception {
    Case endless =
        new Case(
            Workload.IDLE, "endless", new Parameters(1, 0, 1, 2, 1_000_000, 0, 600_000), 1, 1, -9);

    assertThat(endless.limitSeconds()).isZero();
    assertThat(new Jvm(Options.java(JDK)).measure(endless, SubjectKind.TIMEWHEEL).failure())
        .isEqualTo("took more than 0 s");
  }

  @Test
  void eachPeerHasItsOwnClassPath() throws IOException {
    assertThat(Jvm.classPath(SubjectKind.NETTY41)).contains("netty-common-4.1.");
    assertThat(Jvm.classPath(SubjectKind.NETTY42)).contains("netty-common-4.2.");
    for (SubjectKind subject : SubjectKind.values()) {
      List<String> peers =
          List.of("netty-common", "dubbo-common", "kafka-server", "pekko-actor", "/agrona-");
      String classPath = Jvm.classPath(subject).replace('\\', '/');
      assertThat(peers.stream().filter(classPath::contains).count())
          .as(classPath)
          .isEqualTo(subject.jars() == null ? 0 : 1);
    }
  }
}
