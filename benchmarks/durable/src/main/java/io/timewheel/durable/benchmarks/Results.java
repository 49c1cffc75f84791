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
 * All measurements of one run, without averages and without omissions.
 *
 * @param mode {@code full} or {@code quick}
 * @param finished the end of the last measurement
 * @param machine the machine
 * @param commit the commit of the sources, with a plus if they differ from it; null outside a clone
 * @param runs the measurements, in order
 */
record Results(
    String mode, Instant finished, String machine, @Nullable String commit, List<Run> runs) {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /**
   * One measurement.
   *
   * @param round the number of the round, from 1
   * @param workload the workload
   * @param variant its size
   * @param subject the subject
   * @param parameters the numbers of the variant
   * @param load the load average of the machine before it, over one minute
   * @param figures the figures, by name; none after a failure
   * @param failure the reason of a failure
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

  /** Writes the file. If the process is killed meanwhile, the old file stays. */
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
