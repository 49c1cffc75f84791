// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs every workload on each of its subjects briefly, without a measurement. */
@Tag("proof")
@Execution(ExecutionMode.CONCURRENT)
@Timeout(300)
final class SmokeTest {
  @TempDir private Path directory;

  static Stream<SubjectKind> timers() {
    return SubjectKind.timers().stream();
  }

  static Stream<SubjectKind> durables() {
    return SubjectKind.timers().stream().filter(subject -> subject != SubjectKind.MEMORY);
  }

  private Map<String, Double> run(Workload workload, SubjectKind subject, String parameters)
      throws Exception {
    return workload.run(subject, directory, Parameters.parse(parameters));
  }

  @ParameterizedTest
  @EnumSource(SubjectKind.class)
  void schedules(SubjectKind subject) throws Exception {
    String parameters = "callers=2,batch=%d,warmupMillis=0,millis=300";

    assertThat(run(Workload.SCHEDULE, subject, parameters.formatted(1))).containsKey("perSecond");
  }

  @ParameterizedTest
  @EnumSource(SubjectKind.class)
  void schedulesBatches(SubjectKind subject) throws Exception {
    String parameters = "callers=2,batch=10,warmupMillis=0,millis=300";

    assertThat(run(Workload.SCHEDULE, subject, parameters)).containsKey("perSecond");
  }

  @ParameterizedTest
  @MethodSource("timers")
  void fires(SubjectKind subject) throws Exception {
    String parameters = "timers=40,leadMillis=2000,limitMillis=60000";

    assertThat(run(Workload.FIRE, subject, parameters).get("perSecond")).isPositive();
  }

  @ParameterizedTest
  @MethodSource("timers")
  void firesEveryTimerInTime(SubjectKind subject) throws Exception {
    String parameters =
        "perSecond=20,warmupMillis=100,millis=500,leadMillis=5000,limitMillis=60000";

    assertThat(run(Workload.LAG, subject, parameters)).containsEntry("unfired", 0.0);
  }

  @ParameterizedTest
  @MethodSource("durables")
  void reopens(SubjectKind subject) throws Exception {
    String parameters = "timers=500,limitMillis=60000";

    run(Workload.FILL, subject, parameters);

    assertThat(run(Workload.REOPEN, subject, parameters).get("openMillis")).isPositive();
  }

  @Test
  void churns() throws Exception {
    var figures = run(Workload.CHURN, SubjectKind.OURS, "perSecond=1000,seconds=12");

    assertThat(figures.get("firedOfExpected")).isPositive();
  }

  @Test
  void everyCellOfThePlanHasTheParametersOfItsWorkload() {
    Plan.of(false, 1)
        .forEach(cell -> assertThat(cell.parameters().values()).as(cell.name()).isNotEmpty());
    assertThat(Plan.of(true, 1).stream().map(Plan.Cell::workload).distinct())
        .containsAll(
            EnumSet.complementOf(EnumSet.of(Workload.FILL, Workload.ASYNC, Workload.RECUR)));
  }
}
