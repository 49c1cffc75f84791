// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import io.timewheel.benchmarks.report.Report;
import io.timewheel.benchmarks.results.Jdk;
import io.timewheel.benchmarks.results.Results;
import io.timewheel.benchmarks.results.Run;
import io.timewheel.benchmarks.results.SubjectInfo;
import io.timewheel.benchmarks.subjects.SubjectKind;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The benchmark program. It measures, writes the results after each measurement, and prints tables.
 */
public final class Benchmarks {
  /** Netty 4.2 represents 4.1 and Dubbo's copy of it. Agrona's wheel is for one thread. */
  private static final Set<SubjectKind> EXCLUDED_FROM_QUICK =
      EnumSet.of(SubjectKind.NETTY41, SubjectKind.DUBBO, SubjectKind.AGRONA);

  private final Jvm jvm;
  private final Runtime.Version version;
  private final Jdk jdk;

  private Benchmarks(Jvm jvm, Map<String, String> properties) {
    this.jvm = jvm;
    String text = required(properties, "java.runtime.version");
    version = Runtime.Version.parse(text);
    jdk = new Jdk(text, required(properties, "java.vendor"), required(properties, "java.vm.name"));
  }

  private static String required(Map<String, String> properties, String name) {
    String value = properties.get(name);
    if (value == null) {
      throw new IllegalStateException("the JVM does not report its " + name);
    }
    return value;
  }

  /**
   * Runs the program.
   *
   * @param args see {@code --help}
   * @throws Exception if it cannot continue
   */
  public static void main(String[] args) throws Exception {
    List<String> arguments = List.of(args);
    if (arguments.contains("--help") || arguments.contains("-h")) {
      System.out.print(Options.USAGE);
      return;
    }
    Options options;
    try {
      options = Options.parse(arguments);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.err.print(Options.USAGE);
      System.exit(2);
      return;
    }
    try {
      Path file = run(options, options.quick() ? Plan.quick() : Plan.full());
      Report.main(new String[] {file.toString()});
    } catch (IOException | IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(1);
    }
  }

  /** Measures, and returns the file with the results. */
  static Path run(Options options, List<Case> plan) throws IOException, InterruptedException {
    PrintStream out = new PrintStream(System.err, true, StandardCharsets.UTF_8);
    Jvm jvm = new Jvm(Options.java(options.jdk()));
    Jvm.Answer probed = jvm.probe();
    if (probed.failure() != null) {
      throw new IOException("the JVM in " + options.jdk() + " does not run: " + probed.failure());
    }
    Benchmarks benchmarks = new Benchmarks(jvm, probed.lines());
    List<SubjectKind> subjects = benchmarks.subjects(options);
    List<Case> cases =
        plan.stream()
            .filter(measured -> measured.isIn(benchmarks.version))
            .filter(measured -> options.only().contains(measured.workload()))
            .filter(measured -> measured.variant().contains(options.variants()))
            .toList();
    List<Order> orders = Order.of(cases, subjects, options.rounds());
    return benchmarks.measure(options, subjects, orders, new Progress(out, orders));
  }

  private List<SubjectKind> subjects(Options options) throws IOException {
    List<SubjectKind> there =
        options.subjects().stream().filter(subject -> subject.isIn(version)).toList();
    if (options.named()) {
      if (there.size() < options.subjects().size()) {
        throw new IOException("not all of these subjects are in JDK " + version);
      }
      return there;
    }
    return there.stream()
        .filter(subject -> !options.quick() || !EXCLUDED_FROM_QUICK.contains(subject))
        .toList();
  }

  private Path measure(
      Options options, List<SubjectKind> subjects, List<Order> orders, Progress progress)
      throws IOException, InterruptedException {
    Instant started = Instant.now();
    String mode = options.quick() ? "quick" : "full";
    Path file = options.out() == null ? defaultFile(started, mode) : options.out();
    Results results =
        new Results(
            Results.FORMAT,
            mode,
            started,
            started,
            Surroundings.machine(),
            jdk,
            Jvm.describeFlags(orders.stream().map(Order::measured).distinct().toList()),
            Surroundings.commit(),
            subjects.stream().map(this::info).toList(),
            List.of());
    if (options.into()) {
      results =
          results.into(Results.read(file), orders.stream().map(Order::name).distinct().toList());
    }
    Thread end = new Thread(jvm::end, "end");
    Runtime.getRuntime().addShutdownHook(end);
    for (Order order : orders) {
      boolean takesPart = order.measured().absence(order.subject()).isEmpty();
      if (takesPart) {
        progress.begin(order);
      }
      Run run = measure(order);
      progress.end(order);
      if (run.failed() != null) {
        progress.fail(order, run.failed());
      }
      results = results.with(run, Instant.now());
      results.write(file);
    }
    Runtime.getRuntime().removeShutdownHook(end);
    progress.say("The raw results are in " + file);
    return file;
  }

  private Run measure(Order order) throws InterruptedException {
    String absence = order.measured().absence(order.subject()).orElse(null);
    if (absence != null) {
      return run(order, null, absence, null);
    }
    try {
      Jvm.Answer answer = jvm.measure(order.measured(), order.subject());
      if (answer.failure() != null) {
        return run(order, null, null, answer.failure());
      }
      Map<String, Double> metrics = new LinkedHashMap<>();
      answer.lines().forEach((name, value) -> metrics.put(name, Double.valueOf(value)));
      return run(order, metrics, null, null);
    } catch (IOException | NumberFormatException e) {
      return run(order, null, null, e.toString());
    }
  }

  private static Run run(
      Order order,
      @Nullable Map<String, Double> metrics,
      @Nullable String absent,
      @Nullable String failed) {
    return new Run(
        order.measured().workload().id(),
        order.measured().variant(),
        order.subject().id(),
        order.round(),
        order.position(),
        metrics,
        absent,
        failed);
  }

  private SubjectInfo info(SubjectKind subject) {
    String library = subject.version();
    return new SubjectInfo(
        subject.id(),
        subject.label(),
        library == null ? "JDK " + jdk.version() : library,
        subject.tick());
  }

  private Path defaultFile(Instant started, String mode) {
    String time =
        DateTimeFormatter.ofPattern("yyyy-MM-dd-HHmm").withZone(ZoneOffset.UTC).format(started);
    return Path.of(
        "benchmarks",
        "memory",
        "results",
        "%s-jdk%d-%s.json".formatted(mode, version.feature(), time));
  }
}
