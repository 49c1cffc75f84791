// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * Measures durable timers beside their peers: each subject in a JVM of its own, in rounds of which
 * every second one runs backwards. Prints tables, and writes every measurement to a file.
 */
final class DurableBenchmarks {
  private static final String HELP =
      """
      durable/benchmarks/run [options]
        --quick            one short round, for a first look
        --only WORKLOADS   schedule,fire,lag,reopen,window,churn
        --subjects NAMES   see docs/benchmarks/durable.md
        --variants TEXT    only variants that contain this
        --rounds N         at most so many
        --churn-minutes N  how long churn runs (2)
        --dir DIRECTORY    where the stores are: the disk that is measured
        --into FILE        adds to what that file has
        --out FILE         the results (durable/benchmarks/results/<time>.json)
        --report FILE      measure nothing: print the tables of a file
        --write            the tables go to docs/benchmarks/durable.md too
      """;

  private static final List<String> FLAGS = List.of("-XX:+UseG1GC", "-XX:+AlwaysPreTouch");
  private static final int FILL_MEGABYTES = 1_024;

  private final Path directory;
  private final List<Results.Run> runs = new ArrayList<>();

  private DurableBenchmarks(Path directory) {
    this.directory = directory;
  }

  public static void main(String[] args) throws Exception {
    Map<String, String> options = parse(args);
    if (options.containsKey("help")) {
      System.out.print(HELP);
      return;
    }
    String report = options.get("report");
    Results results = report == null ? measure(options) : Results.read(Path.of(report));
    System.out.print(Report.text(results));
    if (options.containsKey("write")) {
      Files.writeString(Path.of("docs/benchmarks/durable.md"), Report.page(results));
    }
  }

  static Map<String, String> parse(String... args) {
    Map<String, String> options = new LinkedHashMap<>();
    List<String> alone = List.of("quick", "help", "write");
    for (int i = 0; i < args.length; i++) {
      String name = args[i].replaceFirst("^--", "");
      boolean known = name.equals("help") || HELP.contains("  --" + name + " ");
      if (!args[i].startsWith("--") || !known) {
        throw new IllegalArgumentException("no option " + args[i] + "\n" + HELP);
      }
      if (alone.contains(name)) {
        options.put(name, "");
      } else if (i + 1 < args.length) {
        options.put(name, args[++i]);
      } else {
        throw new IllegalArgumentException(args[i] + " wants a value\n" + HELP);
      }
    }
    return options;
  }

  private static Results measure(Map<String, String> options)
      throws IOException, InterruptedException {
    boolean quick = options.containsKey("quick");
    long minutes = Long.parseLong(options.getOrDefault("churn-minutes", quick ? "1" : "2"));
    List<Plan.Cell> cells =
        Plan.of(quick, minutes).stream().filter(cell -> chosen(cell, options)).toList();
    int rounds = Integer.parseInt(options.getOrDefault("rounds", "3"));
    Path directory = Path.of(options.getOrDefault("dir", "durable/benchmarks/target/stores"));
    Path out =
        Path.of(
            options.getOrDefault(
                options.containsKey("into") ? "into" : "out",
                "durable/benchmarks/results/"
                    + Instant.now().toString().replace(':', '-')
                    + ".json"));
    DurableBenchmarks benchmarks = new DurableBenchmarks(directory);
    String into = options.get("into");
    Results before = into == null ? null : Results.read(Path.of(into));
    if (before != null) {
      benchmarks.runs.addAll(before.runs());
    }
    String commit = Surroundings.commit();
    Results results = null;
    for (int round = 1; round <= rounds; round++) {
      List<Plan.Cell> order = new ArrayList<>(cells);
      if (round % 2 == 0) {
        Collections.reverse(order);
      }
      for (Plan.Cell cell : order) {
        if (round <= cell.rounds()) {
          benchmarks.run(cell, round);
          results =
              new Results(
                  before != null ? before.mode() : quick ? "quick" : "full",
                  Instant.now(),
                  Surroundings.machine(),
                  commit,
                  benchmarks.runs);
          results.write(out);
        }
      }
    }
    if (results == null) {
      throw new IllegalArgumentException("nothing to measure");
    }
    System.err.println("written to " + out);
    return results;
  }

  private static boolean chosen(Plan.Cell cell, Map<String, String> options) {
    return named(cell.workload().id(), options.get("only"))
        && named(cell.subject().id(), options.get("subjects"))
        && cell.variant().contains(options.getOrDefault("variants", ""));
  }

  private static boolean named(String id, @Nullable String list) {
    return list == null || List.of(list.split(",")).contains(id);
  }

  private void run(Plan.Cell cell, int round) throws IOException, InterruptedException {
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    System.err.printf("round %d: %s%n", round, cell.name());
    Map<String, Double> figures = Map.of();
    String failure = null;
    delete(directory);
    Files.createDirectories(directory);
    try {
      if (cell.workload() == Workload.REOPEN) {
        start(Workload.FILL, cell, FILL_MEGABYTES);
      }
      figures = start(cell.workload(), cell, cell.heapMegabytes());
    } catch (IOException e) {
      failure = e.getMessage();
    } finally {
      delete(directory);
    }
    System.err.println("  " + (failure == null ? figures : failure));
    runs.add(
        new Results.Run(
            round,
            cell.workload().id(),
            cell.variant(),
            cell.subject().id(),
            cell.parameters().toString(),
            load,
            figures,
            failure));
  }

  private Map<String, Double> start(Workload workload, Plan.Cell cell, int heapMegabytes)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xms" + heapMegabytes + "m", "-Xmx" + heapMegabytes + "m"));
    command.addAll(FLAGS);
    String extra = System.getenv("DURABLE_BENCHMARKS_FLAGS");
    if (extra != null) {
      command.addAll(List.of(extra.split(" ")));
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(Measurement.class.getName());
    command.addAll(
        List.of(
            workload.id(),
            cell.subject().id(),
            directory.toString(),
            cell.parameters().toString()));
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
    int mark = output.lastIndexOf(Measurement.MARK);
    if (mark < 0) {
      throw new IOException("exit code " + exitCode + ": " + reason(output));
    }
    String json = output.substring(mark + Measurement.MARK.length()).lines().findFirst().orElse("");
    return new JsonMapper().readValue(json, new TypeReference<>() {});
  }

  /** The innermost cause, or else the last line. */
  private static String reason(String output) {
    List<String> lines = output.lines().filter(line -> !line.isBlank()).toList();
    return lines.stream()
        .filter(line -> line.matches("(Caused by: |Exception in thread ).*"))
        .reduce((first, second) -> second)
        .orElse(lines.isEmpty() ? "without a word" : lines.get(lines.size() - 1));
  }

  static void delete(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(file);
        }
      }
    }
  }
}
