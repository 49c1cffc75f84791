// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import io.timewheel.Timer;
import io.timewheel.benchmarks.subjects.SubjectKind;
import io.timewheel.benchmarks.workloads.Child;
import io.timewheel.benchmarks.workloads.Operations;
import io.timewheel.benchmarks.workloads.Workload;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Starts the measured JVMs. The class path of each contains this library, the benchmarks, JMH,
 * HdrHistogram, and one peer.
 */
final class Jvm {
  private static final String EXIT_WITHOUT_MEMORY = "-XX:+ExitOnOutOfMemoryError";

  /**
   * The JVM touches all pages of the heap before the measurement. So a subject that allocates more
   * does not also wait for page faults.
   */
  private static final List<String> FLAGS =
      List.of("-XX:+UseG1GC", "-XX:+AlwaysPreTouch", EXIT_WITHOUT_MEMORY);

  /** Makes collections frequent enough to be visible. */
  private static final List<String> SMALL_YOUNG_GENERATION =
      List.of("-XX:NewSize=16m", "-XX:MaxNewSize=16m");

  private static final Path OURS = codeOf(Child.class);
  private static final List<Path> COMMON =
      List.of(
          OURS,
          codeOf(Timer.class),
          codeOf(org.openjdk.jmh.runner.Runner.class),
          codeOf(joptsimple.OptionParser.class),
          codeOf(org.apache.commons.math3.util.FastMath.class),
          codeOf(org.HdrHistogram.Histogram.class));

  /**
   * The output of a JVM.
   *
   * @param lines the lines for this program, by name
   * @param failure the failure, or null
   */
  record Answer(Map<String, String> lines, @Nullable String failure) {}

  private final Path java;
  private volatile @Nullable Process current;
  private volatile boolean ended;

  Jvm(Path java) {
    this.java = java;
  }

  static Path codeOf(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the flags as shown in the results: those of all JVMs, and then those of some. */
  static List<String> describeFlags(List<Case> cases) {
    List<String> described = new ArrayList<>(FLAGS);
    Map<String, List<String>> casesByFlags = new TreeMap<>();
    for (Case measured : cases) {
      List<String> flags = flags(measured);
      flags.removeAll(FLAGS);
      casesByFlags
          .computeIfAbsent(String.join(" ", flags), key -> new ArrayList<>())
          .add(measured.workload().id() + " " + measured.variant());
    }
    casesByFlags.forEach(
        (flags, names) -> described.add(flags + " (" + String.join("; ", names) + ")"));
    return described;
  }

  private static List<String> flags(Case measured) {
    String heap = measured.heapGigabytes() + "g";
    List<String> flags = new ArrayList<>(List.of("-Xms" + heap, "-Xmx" + heap));
    flags.addAll(FLAGS);
    if (measured.workload() == Workload.LITTLE_MEMORY) {
      flags.remove(EXIT_WITHOUT_MEMORY);
    }
    if (measured.workload() == Workload.GC) {
      flags.addAll(SMALL_YOUNG_GENERATION);
    }
    return flags;
  }

  Answer probe() throws IOException, InterruptedException {
    return run(List.of("-cp", OURS.toString(), Child.class.getName(), Child.PROBE), 60);
  }

  Answer measure(Case measured, SubjectKind subject) throws IOException, InterruptedException {
    List<String> flags = flags(measured);
    List<String> command = new ArrayList<>();
    if (measured.workload().isOperation()) {
      // This JVM only starts another one, with these flags.
      command.addAll(List.of("-Xmx256m", "-Djmh.ignoreLock=true"));
      command.add("-D" + Operations.FLAGS + "=" + String.join(" ", flags));
    } else {
      command.addAll(flags);
    }
    command.addAll(List.of("-cp", classPath(subject), Child.class.getName()));
    command.addAll(List.of(measured.workload().id(), subject.id(), measured.parameters().encode()));
    return run(command, measured.limitSeconds());
  }

  static String classPath(SubjectKind subject) throws IOException {
    List<Path> classPath = new ArrayList<>(COMMON);
    classPath.addAll(jarsOf(subject));
    return join(classPath);
  }

  /** Returns the jars of the measured library, if it has any. */
  static List<Path> jarsOf(SubjectKind subject) throws IOException {
    String jars = subject.jars();
    if (jars == null) {
      return List.of();
    }
    Path directory = OURS.resolveSibling("peers").resolve(jars);
    if (!Files.isDirectory(directory)) {
      throw new IOException("no directory " + directory + ": the build makes it");
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files.sorted().toList();
    }
  }

  static String join(List<Path> classPath) {
    return String.join(File.pathSeparator, classPath.stream().map(Path::toString).toList());
  }

  private Answer run(List<String> arguments, long limitSeconds)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(java.toString()));
    command.addAll(arguments);
    Path out = Files.createTempFile("timewheel-benchmarks", ".out");
    Path err = Files.createTempFile("timewheel-benchmarks", ".err");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectOutput(out.toFile())
              .redirectError(err.toFile())
              .start();
      current = process;
      if (ended) {
        kill(process);
      }
      String failure = null;
      if (!process.waitFor(limitSeconds, TimeUnit.SECONDS)) {
        kill(process);
        failure = "took more than " + limitSeconds + " s";
      } else if (process.exitValue() != 0) {
        failure = "exit code " + process.exitValue() + ": " + reason(err, out);
      }
      if (ended) {
        throw new InterruptedException("ended by the user");
      }
      Map<String, String> lines = answers(out);
      if (failure == null && lines.isEmpty()) {
        failure = "printed no result: " + reason(err, out);
      }
      return new Answer(lines, failure);
    } finally {
      current = null;
      Files.deleteIfExists(out);
      Files.deleteIfExists(err);
    }
  }

  /** Ends the current measurement, if any. */
  void end() {
    ended = true;
    Process process = current;
    if (process != null) {
      kill(process);
    }
  }

  /** Kills a process and all processes that it started: JMH has its own JVM. */
  private static void kill(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  private static Map<String, String> answers(Path out) throws IOException {
    Map<String, String> answers = new LinkedHashMap<>();
    for (String line : lines(out)) {
      if (line.startsWith(Child.MARK)) {
        String answer = line.substring(Child.MARK.length());
        int space = answer.indexOf(' ');
        answers.put(answer.substring(0, space), answer.substring(space + 1));
      }
    }
    return answers;
  }

  /** Returns the first line that reports an exception, or else the last line. */
  private static String reason(Path err, Path out) throws IOException {
    List<String> lines = new ArrayList<>(lines(err));
    lines.addAll(lines(out)); // the JVM reports its own errors there
    return lines.stream()
        .filter(line -> line.matches(".*(Exception|Error)\\b.*"))
        .findFirst()
        .orElse(lines.isEmpty() ? "without output" : lines.get(lines.size() - 1));
  }

  /** Returns the lines that are not blank. The measured libraries may write any bytes. */
  private static List<String> lines(Path file) throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.UTF_8)
        .lines()
        .filter(line -> !line.isBlank())
        .toList();
  }
}
