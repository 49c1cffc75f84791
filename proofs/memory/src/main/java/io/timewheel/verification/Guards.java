// SPDX-License-Identifier: Apache-2.0
package io.timewheel.verification;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.openjdk.jcstress.infra.runners.TestList;

/**
 * Removes the concurrency guards of the timers one at a time, and verifies that the jcstress tests
 * fail. A test that cannot fail proves nothing. The guards are in {@code guards.txt}. Each entry is
 * an edit that removes a guard, with the tests that must notice. The edit applies to a copy of the
 * sources of core.
 *
 * <p>Without the guard, each of its tests must see a forbidden outcome. If a test does not, it is
 * run again, a few times. An exception in a test, or a test that does not end, does not count.
 *
 * <p>Arguments: the directory of the sources, a directory for the results, and optionally a pattern
 * for the names of the guards. Writes a table, {@code guards.md}.
 */
public final class Guards {
  /** The number of runs: a test may miss a rare race in one run, especially on a busy machine. */
  private static final int RUNS = 3;

  /**
   * The limit of a run, many times its usual duration. Without its guard, a test may wait forever.
   */
  private static final long TIMEOUT_SECONDS = 120;

  private static final long TIMEOUT_PER_TEST_SECONDS = 20;

  private static final String OPTIONS = "-m quick -sc false -f 1";

  /** With more threads than this, the race of a test occurs less often; see {@link Jcstress}. */
  private static final int FEW_THREADS = 2;

  private static final String SHORT = "-iters 3 -time 400";
  private static final String LONG = "-iters 6 -time 500";

  private static final Pattern TEST =
      Pattern.compile("^\\.* \\[\\w+] " + Pattern.quote(Guard.PACKAGE) + "(\\S+)$");
  private static final Pattern OUTCOME =
      Pattern.compile("^ *(\\S.*?) {2,}([\\d,]+) {2,}\\S+% {2,}(\\w+) {2,}.*$");
  private static final Pattern ERROR =
      Pattern.compile("^\\s*((?:java|io\\.timewheel)\\.[\\w.$]*(?:Exception|Error))\\b.*$");

  private final Path sources;
  private final Path results;
  private final Path table;
  private int unnoticed;

  private Guards(Path sources, Path results) {
    this.sources = sources;
    this.results = results;
    this.table = results.resolve("guards.md");
  }

  public static void main(String[] args) throws IOException, InterruptedException {
    Pattern wanted = Pattern.compile(args.length > 2 ? args[2] : "");
    Guards guards = new Guards(Path.of(args[0]), Path.of(args[1]));
    guards.takeOut(
        Guard.all().stream().filter(guard -> wanted.matcher(guard.name).find()).toList());
    if (guards.unnoticed > 0) {
      System.err.println("guards: " + guards.unnoticed + " tests did not notice the missing guard");
      System.exit(1);
    }
  }

  private void takeOut(List<Guard> guards) throws IOException, InterruptedException {
    Files.createDirectories(results);
    Files.deleteIfExists(table);
    row("Guard", "Edit", "Test", "Forbidden outcomes");
    row("---", "---", "---", "---");
    for (Guard guard : guards) {
      takeOut(guard);
    }
  }

  private void takeOut(Guard guard) throws IOException, InterruptedException {
    Path directory = results.resolve(guard.name.replaceAll("\\W+", "-"));
    Path classes = compile(guard, directory);
    Map<String, Verdict> verdicts = new HashMap<>();
    for (int run = 1; run <= RUNS; run++) {
      List<String> few = new ArrayList<>();
      List<String> many = new ArrayList<>();
      for (String test : guard.tests) {
        if (!verdicts.getOrDefault(test, Verdict.NONE).forbidden) {
          int threads = TestList.getInfo(Guard.PACKAGE + test).threads();
          (threads <= FEW_THREADS ? few : many).add(test);
        }
      }
      verdicts.putAll(run(few, SHORT, guard.vmOptions, classes, directory.resolve("few-" + run)));
      verdicts.putAll(run(many, LONG, guard.vmOptions, classes, directory.resolve("many-" + run)));
    }
    String name = guard.name;
    String mutation = guard.mutation();
    for (String test : guard.tests) {
      Verdict verdict = verdicts.getOrDefault(test, Verdict.NONE);
      row(name, mutation, "`" + test + "`", verdict.text);
      unnoticed += verdict.forbidden ? 0 : 1;
      name = ""; // the rows below are of the same guard
      mutation = "";
    }
  }

  private void row(String... cells) throws IOException {
    String row = "| " + String.join(" | ", cells) + " |" + System.lineSeparator();
    System.out.print(row);
    Files.writeString(table, row, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  /** Compiles core without the guard. */
  private Path compile(Guard guard, Path directory) throws IOException {
    Path copy = directory.resolve("java");
    Path classes = Files.createDirectories(directory.resolve("classes"));
    List<String> command =
        new ArrayList<>(List.of("-proc:none", "-nowarn", "-d", classes.toString(), "-cp"));
    command.add(System.getProperty("java.class.path"));
    try (Stream<Path> files = Files.walk(sources)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        if (file.endsWith("module-info.java")) {
          continue;
        }
        Path target = copy.resolve(sources.relativize(file).toString());
        Files.createDirectories(Objects.requireNonNull(target.getParent()));
        Files.writeString(
            target, guard.takeOutOf(file.getFileName().toString(), Files.readString(file)));
        command.add(target.toString());
      }
    }
    guard.requireTakenOut();
    int status =
        ToolProvider.getSystemJavaCompiler().run(null, null, null, command.toArray(String[]::new));
    if (status != 0) {
      throw new IllegalStateException("does not compile without its guard: " + guard.name);
    }
    return classes;
  }

  private static Map<String, Verdict> run(
      List<String> tests, String length, String vmOptions, Path classes, Path directory)
      throws IOException, InterruptedException {
    if (tests.isEmpty()) {
      return Map.of();
    }
    Path output = Files.createDirectories(directory).resolve("output.txt");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                classes.toAbsolutePath()
                    + File.pathSeparator
                    + Jcstress.absolute(System.getProperty("java.class.path")),
                Jcstress.class.getName(),
                directory.toAbsolutePath().toString(),
                tests.stream()
                    .map(test -> Pattern.quote(Guard.PACKAGE + test))
                    .collect(Collectors.joining("|", "^(", ")$"))));
    command.addAll(List.of((OPTIONS + " " + length).split(" ")));
    command.addAll(List.of("-jvmArgs", ("-Xmx256m " + vmOptions).strip()));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      process.waitFor(TIMEOUT_SECONDS + TIMEOUT_PER_TEST_SECONDS * tests.size(), TimeUnit.SECONDS);
    } finally {
      // Kill the descendants first: after the parent's death, they cannot be found.
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    return verdicts(Files.readAllLines(output));
  }

  /** Reads the summary that the harness prints at its end, or its output until then. */
  private static Map<String, Verdict> verdicts(List<String> output) {
    Map<String, List<String>> sections = new HashMap<>();
    List<String> section = new ArrayList<>();
    for (String line : output.subList(output.indexOf("RUN RESULTS:") + 1, output.size())) {
      Matcher test = TEST.matcher(line.strip());
      if (test.matches()) {
        section = sections.computeIfAbsent(test.group(1), name -> new ArrayList<>());
      } else {
        section.add(line);
      }
    }
    Map<String, Verdict> verdicts = new HashMap<>();
    sections.forEach((test, lines) -> verdicts.put(test, Verdict.of(lines)));
    return verdicts;
  }

  /** The outcome of one test. */
  private record Verdict(boolean forbidden, String text) {
    /**
     * The outcome of a test that passed or did not end: the harness prints nothing about either.
     */
    static final Verdict NONE = new Verdict(false, "**not noticed**");

    static Verdict of(List<String> lines) {
      long samples = 0;
      long failures = 0;
      long most = 0;
      String mostFrequent = "";
      String error = "";
      int outcomes = 0;
      for (String line : lines) {
        Matcher outcome = OUTCOME.matcher(line);
        Matcher failure = ERROR.matcher(line);
        if (outcome.matches()) {
          long count = Long.parseLong(outcome.group(2).replace(",", ""));
          samples += count;
          if (outcome.group(3).equals("Forbidden") && count > 0) {
            failures += count;
            outcomes++;
            if (count > most) {
              most = count;
              mostFrequent = outcome.group(1);
            }
          }
        } else if (error.isEmpty() && failure.matches()) {
          error = failure.group(1);
        }
      }
      if (failures > 0) {
        String others = outcomes > 1 ? " and " + (outcomes - 1) + " more" : "";
        return new Verdict(
            true,
            String.format(
                Locale.ROOT,
                "`%s`%s: %,d of %,d samples",
                mostFrequent,
                others,
                failures,
                samples));
      }
      return error.isEmpty() ? NONE : new Verdict(false, "**only** `" + error + "`");
    }
  }
}
