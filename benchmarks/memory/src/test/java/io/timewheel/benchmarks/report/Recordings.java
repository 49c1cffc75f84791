// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import io.timewheel.benchmarks.results.Jdk;
import io.timewheel.benchmarks.results.Machine;
import io.timewheel.benchmarks.results.Results;
import io.timewheel.benchmarks.results.Run;
import io.timewheel.benchmarks.results.SubjectInfo;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Makes recordings of invented measurements. */
final class Recordings {
  private final List<Run> runs = new ArrayList<>();
  private final List<SubjectInfo> subjects = new ArrayList<>();

  private Recordings() {}

  /** Returns the file of a recording of a few workloads in three rounds. */
  static Path imaginary() {
    try {
      return Path.of(Recordings.class.getResource("imaginary.json").toURI());
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  static Recordings of(String... subjects) {
    Recordings recordings = new Recordings();
    for (String subject : subjects) {
      recordings.subjects.add(new SubjectInfo(subject, "The " + subject, "1", "1 ms"));
    }
    return recordings;
  }

  /** Adds a value for each round. */
  Recordings values(
      String workload, String variant, String subject, String metric, double... values) {
    for (int round = 0; round < values.length; round++) {
      value(workload, variant, subject, round, metric, values[round]);
    }
    return this;
  }

  Recordings value(
      String workload, String variant, String subject, int round, String metric, double value) {
    runs.add(
        new Run(workload, variant, subject, round, runs.size(), Map.of(metric, value), null, null));
    return this;
  }

  Recordings absent(String workload, String variant, String subject, int round, String reason) {
    runs.add(new Run(workload, variant, subject, round, runs.size(), null, reason, null));
    return this;
  }

  Recordings failed(String workload, String variant, String subject, int round, String reason) {
    runs.add(new Run(workload, variant, subject, round, runs.size(), null, null, reason));
    return this;
  }

  Results results(String mode) {
    return new Results(
        Results.FORMAT,
        mode,
        Instant.parse("2026-03-01T10:00:00Z"),
        Instant.parse("2026-03-01T11:30:00Z"),
        new Machine(2, "Imaginary CPU", 8L << 30, "Linux 6.1"),
        new Jdk("25.0.1+8", "Nobody", "OpenJDK 64-Bit Server VM"),
        List.of("-Xmx4g"),
        null,
        subjects,
        runs);
  }

  Measurements measurements() {
    return new Measurements(results("full"));
  }
}
