// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures applications with their own timers and with the agent. Prints the table of the guide,
 * and writes it into the file in the first argument, if there is one. A lower figure is better.
 */
final class Figures {
  private static final String BEGIN =
      "<!-- figures: begin, written by adapters/agent/figures -->\n";
  private static final String END = "<!-- figures: end -->";

  private static final int ROUNDS = Integer.getInteger("rounds", 3);
  private static final int START_ROUNDS = 5 * ROUNDS;

  /** The share by which a figure may exceed that of the application's own timer. */
  private static final double NOISE = 0.1;

  /** The timer on which the application runs. */
  private enum Mode {
    OWN("report=compare"),
    AGENT("report=exit"),
    AGENT_1_MS("report=exit,tick=1ms");

    private final String reporting;

    Mode(String reporting) {
      this.reporting = reporting;
    }

    /**
     * Makes a JVM with an agent that reports figures. In the mode {@link #OWN}, these are the
     * figures of the application's own timer.
     */
    ChildJvm reporting() {
      return ChildJvm.withAgent(reporting).jvm("-da");
    }

    /** Makes a JVM that has an agent only in the modes that replace the timer. */
    ChildJvm silent() {
      ChildJvm jvm =
          switch (this) {
            case OWN -> ChildJvm.withoutAgent();
            case AGENT -> ChildJvm.withAgent("report=none");
            case AGENT_1_MS -> ChildJvm.withAgent("report=none,tick=1ms");
          };
      return jvm.jvm("-da");
    }
  }

  /** Runs an application. */
  private interface Run {
    String output(Mode mode) throws Exception;
  }

  private final StringBuilder table = new StringBuilder();
  private final Path directory;

  private Figures(Path directory) {
    this.directory = directory;
  }

  public static void main(String[] arguments) throws Exception {
    Figures figures = new Figures(Files.createTempDirectory("agent-figures"));
    figures.measure();
    System.out.println(figures.table);
    if (arguments.length > 0) {
      Path page = Path.of(arguments[0]);
      String text = Files.readString(page);
      int begin = text.indexOf(BEGIN) + BEGIN.length();
      Files.writeString(
          page, text.substring(0, begin) + figures.table + text.substring(text.indexOf(END)));
    }
  }

  private void measure() throws Exception {
    line(
        "Medians of %d run(s): %s, JDK %s, %d processors, load average %.0f. We lose in bold cells:"
            + " a figure is more than 10 %% above that of the own timer.",
        ROUNDS,
        LocalDate.now(ZoneOffset.UTC),
        Runtime.version().feature(),
        Runtime.getRuntime().availableProcessors(),
        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    line("");
    line("| | Own timer | Agent | `tick=1ms` |");
    line("|---|--:|--:|--:|");
    clients();
    wheels();
    starts();
  }

  private void clients() throws Exception {
    client("async-http-client", AsyncHttpClientApplication.class);
    client("Dubbo", DubboApplication.class);
    client("Pulsar", PulsarApplication.class);
    if (RedisServer.isInstalled()) {
      redisClient("Lettuce", LettuceApplication.class);
      redisClient("Redisson", RedissonApplication.class);
    } else {
      System.err.println("not measured without redis-server: Lettuce, Redisson");
    }
  }

  private void client(String name, Class<?> application) throws Exception {
    client(name, mode -> load(mode).run(application).text());
  }

  private void redisClient(String name, Class<?> application) throws Exception {
    client(
        name,
        mode -> {
          try (RedisServer server = RedisServer.start(directory)) {
            return load(mode).run(application, "" + server.port()).text();
          }
        });
  }

  private static ChildJvm load(Mode mode) {
    return mode.reporting().jvm("-Drequests=200", "-Dgap=7", "-Didle=5");
  }

  private void client(String name, Run run) throws Exception {
    double[][] figures =
        medians(ROUNDS, "late by: p50 (\\S+) ms, p99 (\\S+) ms.* threads (\\S+) ms CPU", run);
    row(name + ", timeouts late: p50, p99", "%.1f, %.1f ms", columns(figures, 0, 2));
    row(name + ", CPU of the timer's thread", "%.0f ms", columns(figures, 2, 3));
  }

  private void wheels() throws Exception {
    double[][] figures =
        medians(
            ROUNDS,
            "idle: (\\S+) ms.*time: (\\S+) ns.*CPU: (\\S+) ns.*expiry: (\\S+) ns.*heap: (\\S+)"
                + " bytes",
            mode -> mode.silent().run(WheelApplication.class).text());
    row("CPU of 50 idle timers in 5 s", "%.0f ms", columns(figures, 0, 1));
    row("start and cancel, 2 threads: time, CPU", "%.0f, %.0f ns", columns(figures, 1, 3));
    row("expiry: CPU of the timer's thread", "%.0f ns", columns(figures, 3, 4));
    row("heap per pending timeout", "%.0f bytes", columns(figures, 4, 5));
  }

  private void starts() throws Exception {
    String application =
        new Jars()
                .classFile("", StartApplication.class)
                .classFile("", WheelApplication.class)
                .write(directory.resolve("application.jar"))
            + File.pathSeparator
            + Jars.of(io.netty.util.Timer.class);
    String archive = directory.resolve("application.jsa").toString();
    ChildJvm.withoutAgent()
        .jvm("-XX:ArchiveClassesAtExit=" + archive)
        .classPath(application)
        .run(StartApplication.class);
    start("start until the first timeout: time, CPU", application, "-Xshare:auto");
    start("the same with an archive of classes", application, "-XX:SharedArchiveFile=" + archive);
    double[][] heap =
        medians(
            ROUNDS,
            "heap: (\\S+) MB",
            mode ->
                mode.silent().classPath(application).run(StartApplication.class, "heap").text());
    row("heap after the start", "%.2f MB", heap);
  }

  private void start(String name, String classPath, String option) throws Exception {
    double[][] figures =
        medians(
            START_ROUNDS,
            "real (\\S+) user (\\S+) sys (\\S+)",
            mode ->
                mode.silent()
                    .timed()
                    .jvm(option)
                    .classPath(classPath)
                    .run(StartApplication.class)
                    .text());
    double[][] seconds = new double[figures.length][];
    Arrays.setAll(
        seconds,
        i -> new double[] {1_000 * figures[i][0], 1_000 * (figures[i][1] + figures[i][2])});
    row(name, "%.0f, %.0f ms", seconds);
  }

  /** Returns for each mode the median of each number that the pattern finds in the output. */
  private static double[][] medians(int rounds, String pattern, Run run) throws Exception {
    Map<Mode, List<double[]>> all = new EnumMap<>(Mode.class);
    for (int round = 0; round < rounds; round++) {
      for (Mode mode : Mode.values()) {
        double[] numbers = numbers(pattern, run.output(mode));
        all.computeIfAbsent(mode, key -> new ArrayList<>()).add(numbers);
      }
    }
    return all.values().stream().map(Figures::medians).toArray(double[][]::new);
  }

  private static double[] numbers(String pattern, String output) throws IOException {
    Matcher matcher = Pattern.compile(pattern, Pattern.DOTALL).matcher(output);
    if (!matcher.find()) {
      throw new IOException("the output has no figures (expected: " + pattern + "):\n" + output);
    }
    double[] numbers = new double[matcher.groupCount()];
    Arrays.setAll(numbers, i -> Double.parseDouble(matcher.group(i + 1)));
    return numbers;
  }

  private static double[] medians(List<double[]> rounds) {
    double[] medians = new double[rounds.get(0).length];
    Arrays.setAll(
        medians,
        i -> rounds.stream().mapToDouble(each -> each[i]).sorted().toArray()[rounds.size() / 2]);
    return medians;
  }

  private static double[][] columns(double[][] figures, int from, int to) {
    return Arrays.stream(figures)
        .map(each -> Arrays.copyOfRange(each, from, to))
        .toArray(double[][]::new);
  }

  private void row(String name, String format, double[][] figures) {
    StringBuilder row = new StringBuilder("| " + name + " |");
    for (double[] mode : figures) {
      boolean worse = false;
      for (int i = 0; i < mode.length; i++) {
        worse |= mode[i] > figures[0][i] * (1 + NOISE);
      }
      Object[] values = Arrays.stream(mode).boxed().toArray();
      String cell = String.format(Locale.ROOT, format, values);
      row.append(worse ? " **" + cell + "** |" : " " + cell + " |");
    }
    line("%s", row);
  }

  private void line(String format, Object... values) {
    String line = String.format(Locale.ROOT, format, values);
    System.err.println(line);
    table.append(line).append('\n');
  }
}
