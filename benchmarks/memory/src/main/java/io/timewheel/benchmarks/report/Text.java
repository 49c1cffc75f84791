// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import io.timewheel.benchmarks.results.Results;
import io.timewheel.benchmarks.workloads.Workload;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;

/** The generated texts of the documents about a recording, in Markdown. */
final class Text {
  private static final String KEY =
      "Each cell: the median over the rounds (least–greatest), and below it how many times better"
          + " the first row is than this one, compared round by round: above 1 it is better, below"
          + " 1 it is worse, and against another library the cell then says **"
          + Tables.LOSS
          + "**.";

  private final Measurements measurements;
  private final Tables tables;

  Text(Measurements measurements) {
    this.measurements = measurements;
    this.tables = new Tables(measurements);
  }

  /** Returns the figures of the README. */
  String brief() {
    return warning() + new Headline(measurements).brief() + "\n" + where() + "\n";
  }

  /** Returns the first figures of {@code docs/internals/benchmarks.md}. */
  String headline() {
    return warning() + new Headline(measurements).text() + "\n" + where() + "\n";
  }

  /** Returns everything, with a heading for the targets and for each workload. */
  String tables() {
    return circumstances()
        + "\n## Targets\n\n"
        + tables.targets()
        + Arrays.stream(Workload.values())
            .map(workload -> "\n## " + workload.id() + "\n\n" + section(workload))
            .collect(Collectors.joining());
  }

  private String section(Workload workload) {
    String of = tables.of(workload);
    return of.isEmpty() ? "Not part of this recording.\n" : of;
  }

  /** Returns the machine, the time and the JVM of the recording, and the subjects. */
  private String circumstances() {
    Results recording = measurements.recording();
    String flags = recording.flags().isEmpty() ? "none" : code(String.join(" ", recording.flags()));
    String commit = recording.commit() == null ? "unknown" : code(recording.commit());
    Duration took = Duration.between(recording.started(), recording.finished());
    return warning()
        + where()
        + "\n\n"
        + "* JDK: "
        + Tables.escaped(recording.jdk().vendor())
        + ", "
        + Tables.escaped(recording.jdk().vm())
        + ", "
        + Tables.escaped(recording.jdk().version())
        + "\n* JVM flags: "
        + flags
        + "\n* Commit: "
        + commit
        + "\n* Took "
        + String.format(Locale.ROOT, "%d:%02d h", took.toHours(), took.toMinutesPart())
        + "\n\n"
        + tables.subjects()
        + "\n"
        + KEY
        + "\n";
  }

  /** Returns everything, for a terminal. */
  String all() {
    return circumstances()
        + "\n"
        + tables.targets()
        + Arrays.stream(Workload.values())
            .map(tables::of)
            .filter(table -> !table.isEmpty())
            .map(table -> "\n" + table)
            .collect(Collectors.joining());
  }

  private String where() {
    Results recording = measurements.recording();
    return "Recorded on "
        + recording.finished().atOffset(ZoneOffset.UTC).toLocalDate()
        + ": "
        + recording.machine().cpus()
        + " processors ("
        + Tables.escaped(recording.machine().cpuModel())
        + ")"
        + ", "
        + Math.round(recording.machine().memoryBytes() / (double) (1 << 30))
        + " GB, "
        + Tables.escaped(recording.machine().os())
        + ", JDK "
        + Tables.escaped(recording.jdk().version())
        + ".";
  }

  private String warning() {
    return Objects.equals(measurements.recording().mode(), "full")
        ? ""
        : "> This is a quick run: few rounds, short, for a first look and not for conclusions.\n\n";
  }

  private static String code(String text) {
    return "`" + text.replace("`", "'") + "`";
  }
}
