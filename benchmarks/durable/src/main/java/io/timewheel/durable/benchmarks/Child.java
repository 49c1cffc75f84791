// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** A fresh JVM for one measurement, which prints figures as JSON and ends. */
final class Child {
  private static final List<String> FLAGS = List.of("-XX:+UseG1GC", "-XX:+AlwaysPreTouch");

  /** Precedes the figures, because the measured libraries may print other text. */
  private static final String MARK = "figures: ";

  private Child() {}

  /**
   * Prints the figures and ends the JVM of a measurement, even if a library leaves threads behind.
   */
  static void exit(Map<String, Double> figures) {
    System.out.println(MARK + new JsonMapper().writeValueAsString(figures));
    System.exit(0);
  }

  /** Runs a main class, and returns the figures that it passed to {@link #exit}. */
  static Map<String, Double> run(Class<?> main, int heapMegabytes, List<String> arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xms" + heapMegabytes + "m", "-Xmx" + heapMegabytes + "m"));
    command.addAll(FLAGS);
    String extra = System.getenv("DURABLE_BENCHMARKS_FLAGS");
    if (extra != null) {
      command.addAll(List.of(extra.split(" ")));
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(arguments);
    Path output = Files.createTempFile("durable-benchmarks", ".out");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      if (!process.waitFor(2, TimeUnit.HOURS)) {
        process.destroyForcibly().waitFor();
        throw new IOException("took more than two hours");
      }
      return figures(Files.readString(output, StandardCharsets.ISO_8859_1), process.exitValue());
    } finally {
      Files.delete(output);
    }
  }

  private static Map<String, Double> figures(String output, int exitCode) throws IOException {
    int mark = output.lastIndexOf(MARK);
    if (mark < 0) {
      throw new IOException("exit code " + exitCode + ": " + reason(output));
    }
    String json = output.substring(mark + MARK.length()).lines().findFirst().orElse("");
    return new JsonMapper().readValue(json, new TypeReference<>() {});
  }

  /** Returns the innermost cause, or else the last line. */
  private static String reason(String output) {
    List<String> lines = output.lines().filter(line -> !line.isBlank()).toList();
    return lines.stream()
        .filter(line -> line.matches("(Caused by: |Exception in thread ).*"))
        .reduce((first, second) -> second)
        .orElse(lines.isEmpty() ? "without a word" : lines.get(lines.size() - 1));
  }
}
