// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import io.timewheel.Timer;
import io.timewheel.benchmarks.subjects.SubjectKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Measures how long it takes to make the first timer of a JVM and to start a timeout on it,
 * compared with Netty's timer. Runs fresh JVMs one after the other, in alternating order. Most of
 * the time is class loading, so each JVM measures once.
 */
public final class FirstTimer {
  private static final int DEFAULT_FORKS = 20;

  private FirstTimer() {}

  /**
   * Prints a table row for each JDK.
   *
   * @param args the number of JVMs for each library (default: 20), then the homes of the JDKs
   *     (default: that of this JVM)
   * @throws Exception if a JVM cannot be started or fails
   */
  public static void main(String[] args) throws Exception {
    int forks = args.length == 0 ? DEFAULT_FORKS : Integer.parseInt(args[0]);
    List<String> homes =
        args.length < 2
            ? List.of(System.getProperty("java.home"))
            : Arrays.asList(args).subList(1, args.length);
    System.out.println("| JDK | Netty 4.2 | Timewheel | Ratio of the medians |");
    System.out.println("|---|---|---|---|");
    for (String home : homes) {
      System.out.println(row(Path.of(home, "bin", "java"), forks));
    }
  }

  static String row(Path java, int forks) throws IOException, InterruptedException {
    List<Double> netty = new ArrayList<>();
    List<Double> timewheel = new ArrayList<>();
    measure(java, FirstTimerJvm.NETTY); // reads the files of the JDK into the page cache
    for (int fork = 0; fork < forks; fork++) {
      if (fork % 2 == 0) {
        netty.add(measure(java, FirstTimerJvm.NETTY));
        timewheel.add(measure(java, FirstTimerJvm.TIMEWHEEL));
      } else {
        timewheel.add(measure(java, FirstTimerJvm.TIMEWHEEL));
        netty.add(measure(java, FirstTimerJvm.NETTY));
      }
    }
    return String.format(
        Locale.ROOT,
        "| %s | %s | %s | %.2f |",
        version(java),
        spread(netty),
        spread(timewheel),
        median(timewheel) / median(netty));
  }

  private static String spread(List<Double> millis) {
    double least = millis.stream().min(Double::compare).orElseThrow();
    double greatest = millis.stream().max(Double::compare).orElseThrow();
    return String.format(Locale.ROOT, "%.1f ms (%.1f–%.1f)", median(millis), least, greatest);
  }

  private static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int half = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(half)
        : (sorted.get(half - 1) + sorted.get(half)) / 2;
  }

  /** Measures one JVM. Returns milliseconds. */
  private static double measure(Path java, String library)
      throws IOException, InterruptedException {
    String answer = run(java, "-cp", classPath(library), FirstTimerJvm.class.getName(), library);
    return Long.parseLong(answer.strip()) / 1e6;
  }

  private static String version(Path java) throws IOException, InterruptedException {
    return run(java, "--version").lines().findFirst().orElseThrow();
  }

  private static String run(Path java, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(java.toString()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(command + " failed with exit code " + process.exitValue());
    }
    return answer;
  }

  /**
   * Returns the class path of this program and one library, so that no class look-up searches
   * another library.
   */
  private static String classPath(String library) throws IOException {
    Path ours = Jvm.codeOf(FirstTimer.class);
    List<Path> classPath = new ArrayList<>(List.of(ours));
    if (library.equals(FirstTimerJvm.NETTY)) {
      classPath.addAll(Jvm.jarsOf(SubjectKind.NETTY42));
    } else {
      classPath.add(Jvm.codeOf(Timer.class));
    }
    return Jvm.join(classPath);
  }
}
