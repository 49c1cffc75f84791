// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.results;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * All that one run of the benchmarks measured, raw: nothing is averaged and nothing is left out.
 *
 * @param format the version of this form, {@value #FORMAT}
 * @param mode {@code full} or {@code quick}
 * @param started when the first measurement began
 * @param finished when the last one so far ended
 * @param machine what it ran on
 * @param jdk the JVM that was measured
 * @param flags of every JVM that was measured
 * @param commit of the sources, if they are a clone
 * @param subjects what was measured
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
  /** The version of this form. */
  public static final int FORMAT = 1;

  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final ObjectWriter WRITER = JSON.writer(SerializationFeature.INDENT_OUTPUT);

  /**
   * Reads a file.
   *
   * @param file what {@link #write} wrote
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
   * Writes this to a file, which is never seen half written.
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
