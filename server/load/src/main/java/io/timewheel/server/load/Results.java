// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * All measurements of one run.
 *
 * @param finished the end of the run
 * @param machine the machine
 * @param commit the commit of the sources, with a plus if they were changed; null outside a clone
 * @param serverOptions the options that limit the server
 * @param seconds the duration of each rate
 * @param rounds the measurements, each on a new server and an empty store
 * @param startMillis the times of commands, by the JDK that ran them
 */
record Results(
    Instant finished,
    String machine,
    @Nullable String commit,
    List<String> serverOptions,
    int seconds,
    List<Round> rounds,
    Map<String, List<Double>> startMillis) {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /**
   * One measurement of all workloads.
   *
   * @param load the load average of the machine before it, over one minute
   * @param figures the figures, by name
   */
  record Round(double load, Map<String, Double> figures) {}

  static Results read(Path file) {
    return JSON.readValue(file, Results.class);
  }

  void write(Path file) throws IOException {
    Files.createDirectories(file.toAbsolutePath().getParent());
    Files.writeString(
        file, JSON.writer(SerializationFeature.INDENT_OUTPUT).writeValueAsString(this) + "\n");
  }
}
