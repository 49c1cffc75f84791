// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.load;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Starts a server, loads it, and records the figures. */
@Command(
    name = "server/load/run",
    mixinStandardHelpOptions = true,
    description = {
      "Start a server with little memory on an empty store, load it over loopback with one",
      "workload after the other, and print the figures. Client and server share the machine."
    })
final class Load implements Callable<Integer> {
  private static final Path PAGE = Path.of("docs/internals/benchmarks/server.md");

  @Option(
      names = "--seconds",
      description = "Measure each rate this long, in seconds (default: ${DEFAULT-VALUE}).",
      paramLabel = "N")
  private int seconds = 10;

  @Option(
      names = "--rounds",
      description = "Run this many rounds (default: ${DEFAULT-VALUE}).",
      paramLabel = "N")
  private int rounds = 3;

  @Option(
      names = "--java-options",
      description = "JVM options of the server, comma-separated (default: ${DEFAULT-VALUE}).",
      split = ",",
      paramLabel = "OPTION")
  private List<String> javaOptions = List.of("-Xmx224m", "-XX:MaxDirectMemorySize=32m");

  @Option(
      names = "--start-with",
      description = "JDKs for client commands, comma-separated (default: this one).",
      split = ",",
      paramLabel = "HOME")
  private List<Path> startWith = List.of(Path.of(System.getProperty("java.home")));

  @Option(
      names = "--out",
      description = "Write the results to this file, as JSON.",
      paramLabel = "FILE")
  private @Nullable Path out;

  @Option(
      names = "--report",
      description = "Show this file without a measurement.",
      paramLabel = "FILE")
  private @Nullable Path report;

  @Option(names = "--write", description = "Write docs/internals/benchmarks/server.md too.")
  private boolean write;

  /**
   * Runs the load.
   *
   * @param args the options, see {@code --help}
   */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Load()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    Results results = report == null ? measure() : Results.read(report);
    if (out != null) {
      results.write(out);
    }
    System.out.print(Page.table(results));
    if (write) {
      Files.writeString(PAGE, Page.of(results));
    }
    return 0;
  }

  private Results measure() throws Exception {
    List<Results.Round> measured = new ArrayList<>();
    for (int i = 0; i < rounds; i++) {
      double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
      Map<String, Double> figures = new TreeMap<>();
      onServer(server -> new Workloads(server, figures).all(seconds));
      System.err.println("round " + (i + 1) + ": " + figures);
      measured.add(new Results.Round(load, figures));
    }
    Map<String, List<Double>> starts = new TreeMap<>();
    onServer(
        server -> {
          for (Path home : startWith) {
            starts.put(Starts.version(home), Starts.millis(home, server.port()));
          }
        });
    return new Results(Instant.now(), machine(), commit(), javaOptions, seconds, measured, starts);
  }

  /** A load on a server. */
  private interface Work {
    void on(ServerProcess server) throws Exception;
  }

  private void onServer(Work work) throws Exception {
    Path directory = Files.createTempDirectory("timewheel-load");
    try {
      try (ServerProcess server = ServerProcess.start(directory, javaOptions)) {
        work.on(server);
      }
    } finally {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private static String machine() {
    OperatingSystemMXBean os = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    return "%d processors, %d GB, %s %s, JDK %s"
        .formatted(
            os.getAvailableProcessors(),
            Math.round(os.getTotalMemorySize() / (double) (1 << 30)),
            os.getName(),
            os.getVersion(),
            Runtime.version());
  }

  private static @Nullable String commit() throws IOException, InterruptedException {
    Process git =
        new ProcessBuilder("git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String answer = new String(git.getInputStream().readAllBytes(), UTF_8);
    return git.waitFor() == 0 ? answer.strip() : null;
  }
}
