// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * All that one run measured: nothing is averaged and nothing is left out.
 *
 * @param mode {@code full} or {@code quick}
 * @param finished when the last measurement ended
 * @param machine what it ran on
 * @param commit of the sources, with a plus if they were changed; null if they are no clone
 * @param runs the measurements, in the order in which they were taken
 */
record Results(
    String mode, Instant finished, String machine, @Nullable String commit, List<Run> runs) {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /**
   * One measurement.
   *
   * @param round of which round, from 1
   * @param workload what was done
   * @param variant how much of it
   * @param subject what did it
   * @param parameters the numbers behind the variant
   * @param load how busy the machine was before, in threads that wanted to run over a minute
   * @param figures what came out, by name; none after a failure
   * @param failure why there are none
   */
  record Run(
      int round,
      String workload,
      String variant,
      String subject,
      String parameters,
      double load,
      Map<String, Double> figures,
      @Nullable String failure) {
    Run {
      figures = new TreeMap<>(figures);
    }

    @Nullable Double figure(String name) {
      return figures.get(name);
    }
  }

  static Results read(Path file) {
    return JSON.readValue(file, Results.class);
  }

  /** Whoever is killed meanwhile leaves the file as it was. */
  void write(Path file) throws IOException {
    Path parent = file.toAbsolutePath().getParent();
    if (parent != null) {
      Files.createDirectories(parent);
    }
    Path next = file.resolveSibling(file.getFileName() + ".next");
    Files.writeString(
        next, JSON.writer(SerializationFeature.INDENT_OUTPUT).writeValueAsString(this) + "\n");
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
