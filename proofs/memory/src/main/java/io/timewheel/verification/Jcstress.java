// SPDX-License-Identifier: Apache-2.0
package io.timewheel.verification;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.openjdk.jcstress.Main;
import org.openjdk.jcstress.infra.runners.TestList;

/**
 * Runs jcstress, and accepts the result only if every test has run. The harness itself ignores two
 * cases: a test that it could not start, which it calls a soft error, and a test with more threads
 * than processors, which it skips.
 *
 * <p>Those tests run in a second pass, in which the harness sees more processors than there are,
 * and pins no thread. Their threads then share processors. So their operations overlap less often,
 * but the system also suspends threads in the middle of operations.
 *
 * <p>Arguments: a directory for the results, a pattern for the names of the tests, and further
 * arguments for the harness.
 */
public final class Jcstress {
  private static final Pattern PROGRESS =
      Pattern.compile(
          "\\(Results: (\\d+) planned; (\\d+) passed, \\d+ failed, \\d+ soft errs, \\d+ hard"
              + " errs\\)");

  private final Path results;
  private final List<String> options;

  private Jcstress(Path results, List<String> options) {
    this.results = results;
    this.options = options;
  }

  public static void main(String[] args) throws IOException, InterruptedException {
    Path results = Path.of(args[0]);
    Predicate<String> wanted = Pattern.compile(args[1]).asPredicate();
    Map<Integer, List<String>> testsByThreads =
        TestList.tests().stream()
            .filter(wanted)
            .collect(
                Collectors.groupingBy(
                    test -> TestList.getInfo(test).threads(), TreeMap::new, Collectors.toList()));
    if (testsByThreads.isEmpty()) {
      throw new IllegalArgumentException("no test has a name like " + args[1]);
    }
    Jcstress jcstress = new Jcstress(results, List.of(args).subList(2, args.length));
    int processors = Runtime.getRuntime().availableProcessors();
    List<String> fitting = new ArrayList<>();
    List<String> crowded = new ArrayList<>();
    testsByThreads.forEach(
        (threads, tests) -> (threads <= processors ? fitting : crowded).addAll(tests));
    boolean clean = jcstress.run(fitting, false);
    clean &= jcstress.run(crowded, true);
    if (!clean) {
      System.err.println("jcstress: FAILED, see above and " + results.toAbsolutePath());
      System.exit(1);
    }
  }

  private boolean run(Collection<String> tests, boolean crowded)
      throws IOException, InterruptedException {
    if (tests.isEmpty()) {
      return true;
    }
    Path directory = results.resolve(crowded ? "crowded" : "fitting");
    Files.createDirectories(directory);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    if (crowded) {
      command.add("-XX:ActiveProcessorCount=4");
    }
    command.add("-cp");
    command.add(absolute(System.getProperty("java.class.path")));
    command.add((crowded ? Crowded.class : Main.class).getName());
    command.addAll(options);
    command.addAll(List.of("-r", "html", "-t", exactly(tests)));
    if (crowded) {
      command.addAll(List.of("-c", "4", "-spinStyle", "THREAD_YIELD"));
      if (!options.contains("-sc")) {
        // One compiler for all actors: with one for each, there are nine times as many
        // configurations.
        command.addAll(List.of("-sc", "false"));
      }
    }
    System.out.println(
        "jcstress: " + tests.size() + (crowded ? " tests on too few processors" : " tests"));
    Process process =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
    return clean(process, directory.resolve("output.txt"));
  }

  /** Copies the output, and reads from it whether all tests have run and none failed. */
  private static boolean clean(Process process, Path copy)
      throws IOException, InterruptedException {
    String planned = "none";
    String passed = "";
    boolean uninteresting = false;
    try (BufferedReader output =
            new BufferedReader(
                new InputStreamReader(process.getInputStream(), Charset.defaultCharset()));
        var sink = Files.newBufferedWriter(copy)) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        System.out.println(line);
        sink.write(line);
        sink.newLine();
        Matcher progress = PROGRESS.matcher(line);
        if (progress.matches()) {
          planned = progress.group(1);
          passed = progress.group(2);
        }
        uninteresting |= line.strip().equals("Interesting tests: No matches.");
      }
    }
    boolean complete = planned.equals(passed);
    int exit = process.waitFor();
    System.out.println(
        "jcstress: " + passed + " of " + planned + " passed, exit status " + exit + ", " + copy);
    return exit == 0 && complete && uninteresting;
  }

  static String absolute(String classPath) {
    return Pattern.compile(Pattern.quote(File.pathSeparator))
        .splitAsStream(classPath)
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static String exactly(Collection<String> tests) {
    return tests.stream().map(Pattern::quote).collect(Collectors.joining("|", "^(", ")$"));
  }

  /** Runs the harness as if the machine had more processors. */
  static final class Crowded {
    private Crowded() {}

    public static void main(String[] args) throws Exception {
      // Starting a process requires the real name of the system, and caches it.
      new ProcessBuilder(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-version")
          .start()
          .waitFor();
      // A system that the harness does not know: it counts processors, and cannot pin threads.
      System.setProperty("os.name", "unknown");
      Main.main(args);
    }
  }
}
