// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.load;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Starts a server, loads it, and prints what it bore. */
@Command(
    name = "server/load/run",
    mixinStandardHelpOptions = true,
    description = {
      "Starts a server with little memory on an empty store, loads it over loopback with one",
      "workload after the other, and prints what it bore. Client and server share the machine."
    })
public final class Load implements Callable<Integer> {
  @Option(
      names = "--seconds",
      description = "How long each rate is measured (${DEFAULT-VALUE}).",
      paramLabel = "N")
  private int seconds = 20;

  @Option(
      names = "--connections",
      description = "How many make timers one by one (${DEFAULT-VALUE}).",
      paramLabel = "N")
  private int connections = 32;

  @Option(
      names = "--rate",
      description = "Timers that are due per second, where lag is measured (${DEFAULT-VALUE}).",
      paramLabel = "N")
  private int rate = 1_000;

  @Option(
      names = "--claims",
      description = "How many claims wait at once (${DEFAULT-VALUE}).",
      paramLabel = "N")
  private int claims = 10_000;

  @Option(
      names = "--streams",
      description = "How many event streams are open meanwhile (${DEFAULT-VALUE}).",
      paramLabel = "N")
  private int streams = 1_000;

  @Option(
      names = "--idle",
      description = "How many connections are open and silent at once (${DEFAULT-VALUE}).",
      paramLabel = "N")
  private int idle = 10_000;

  @Option(
      names = "--java-options",
      description = "Of the server, separated by commas (${DEFAULT-VALUE}).",
      split = ",",
      paramLabel = "OPTION")
  private List<String> javaOptions = List.of("-Xmx256m", "-XX:MaxDirectMemorySize=64m");

  @Option(
      names = "--data",
      description = "Where the store is made (default: a new temporary directory).",
      paramLabel = "DIR")
  private @Nullable Path data;

  private final PrintStream out = System.out;

  /** For the command line. */
  Load() {}

  /**
   * Runs the load.
   *
   * @param args see {@code --help}
   */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Load()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    Path directory = data == null ? Files.createTempDirectory("timewheel-load") : data;
    try (ServerProcess server = ServerProcess.start(directory, javaOptions)) {
      Workloads workloads = new Workloads(server.port(), seconds);
      print("server", String.join(" ", javaOptions) + ", in " + directory);
      double batches = workloads.batches();
      print("created in batches of 1,000", "%,.0f a second".formatted(batches));
      Histogram singles = workloads.singles(connections);
      print(
          "created one by one over " + connections + " connections",
          "%,.0f a second, %s"
              .formatted(
                  (double) singles.getTotalCount() / seconds,
                  quantiles(singles, TimeUnit.MILLISECONDS.toNanos(1))));
      print(
          "from due to a waiting claim, at %,d a second".formatted(rate),
          quantiles(workloads.lag(rate), TimeUnit.MILLISECONDS.toMicros(1)));
      print(
          "answered while %,d connections are silent".formatted(idle),
          quantiles(workloads.idle(idle), TimeUnit.MILLISECONDS.toNanos(1)));
      waiting(workloads, server);
    }
    return 0;
  }

  private void waiting(Workloads workloads, ServerProcess server) throws IOException {
    Workloads.Waited waited = workloads.waiting(claims, streams);
    print(
        "%,d claims wait, %,d event streams are open".formatted(claims, streams),
        "%,d claims answered, the last %,d ms after the timers were sent; %,d streams were told"
            .formatted(waited.answered(), waited.millis(), waited.told()));
    long megabytes = server.peakMegabytes();
    print("most memory of the server", megabytes == 0 ? "not known" : "%,d MB".formatted(megabytes));
  }

  private static String quantiles(Histogram histogram, double perMilli) {
    return "p50 %.1f ms, p99 %.1f ms, most %.1f ms, of %,d"
        .formatted(
            histogram.getValueAtPercentile(50) / perMilli,
            histogram.getValueAtPercentile(99) / perMilli,
            histogram.getMaxValue() / perMilli,
            histogram.getTotalCount());
  }

  private void print(String what, String figure) {
    out.printf("%-52s %s%n", what, figure);
    out.flush();
  }
}
