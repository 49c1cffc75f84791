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
 * All that one run measured.
 *
 * @param finished when it ended
 * @param machine what it ran on
 * @param commit of the sources, with a plus if they were changed; null if they are no clone
 * @param serverOptions what limited the server
 * @param seconds how long each rate was measured
 * @param rounds the measurements, each on a new server and an empty store
 * @param startMillis how long commands took, by the JDK that ran them
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
   * One measurement of everything.
   *
   * @param load how busy the machine was before, in threads that wanted to run over a minute
   * @param figures what came out, by name
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
