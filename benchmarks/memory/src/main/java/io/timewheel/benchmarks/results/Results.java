// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.results;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The raw results of one run of the benchmarks: nothing is averaged and nothing is omitted.
 *
 * @param format the version of this format, {@value #FORMAT}
 * @param mode {@code full} or {@code quick}
 * @param started when the first measurement began
 * @param finished when the last measurement so far ended
 * @param machine the machine
 * @param jdk the measured JVM
 * @param flags the flags of every measured JVM
 * @param commit the commit of the sources, if they are a clone; if parts were measured again, all
 *     commits, the newest first
 * @param subjects the measured subjects
 * @param runs the measurements, in the order in which they were taken
 */
public record Results(
    int format,
    String mode,
    Instant started,
    Instant finished,
    Machine machine,
    Jdk jdk,
    List<String> flags,
    @Nullable String commit,
    List<SubjectInfo> subjects,
    List<Run> runs) {
  /** The version of this format. */
  public static final int FORMAT = 1;

  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final ObjectWriter WRITER = JSON.writer(SerializationFeature.INDENT_OUTPUT);

  /**
   * Reads a file.
   *
   * @param file a file that {@link #write} wrote
   * @return its content
   */
  public static Results read(Path file) {
    Results results = JSON.readValue(file, Results.class);
    if (results.format != FORMAT) {
      throw new IllegalArgumentException(
          "format of " + file + ": " + results.format + " (expected: " + FORMAT + ")");
    }
    return results;
  }

  /**
   * Adds a measurement.
   *
   * @param run the measurement
   * @param now when it ended
   * @return these results and that one
   */
  public Results with(Run run, Instant now) {
    List<Run> more = new ArrayList<>(runs);
    more.add(run);
    return new Results(
        format, mode, started, now, machine, jdk, flags, commit, subjects, List.copyOf(more));
  }

  /**
   * Keeps the earlier results of variants that are not measured now.
   *
   * @param earlier results from the same machine, with the same JVM and the same subjects
   * @param measured the {@link Run#name}s of the variants that are measured now
   * @return these results and the earlier ones
   */
  public Results into(Results earlier, List<String> measured) {
    require("mode", mode, earlier.mode);
    require("machine", machine, earlier.machine);
    require("JVM", jdk, earlier.jdk);
    require("subjects", subjects, earlier.subjects);
    List<Run> kept = new ArrayList<>(earlier.runs);
    kept.removeIf(run -> measured.contains(run.name()));
    kept.addAll(runs);
    return new Results(
        format,
        mode,
        earlier.started,
        finished,
        machine,
        jdk,
        Stream.concat(earlier.flags.stream(), flags.stream()).distinct().toList(),
        Stream.of((commit + ", " + earlier.commit).split(", ", -1))
            .distinct()
            .collect(Collectors.joining(", ")),
        subjects,
        kept);
  }

  private static void require(String what, Object now, Object earlier) {
    if (!now.equals(earlier)) {
      throw new IllegalArgumentException(
          what + ": " + now + " (expected: as in the earlier results, " + earlier + ")");
    }
  }

  /**
   * Writes this to a file atomically.
   *
   * @param file replaced if it exists
   * @throws IOException if it cannot be written
   */
  public void write(Path file) throws IOException {
    Path absolute = file.toAbsolutePath();
    Files.createDirectories(absolute.resolve("..").normalize());
    Path temporary = absolute.resolveSibling(absolute.getFileName() + ".new");
    try {
      Files.write(temporary, WRITER.writeValueAsBytes(this));
      Files.move(
          temporary, absolute, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }
}
