// SPDX-License-Identifier: Apache-2.0
package io.timewheel.verification;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/**
 * Takes the guards of the timers out, one at a time, and sees the jcstress tests fail: a test that
 * cannot fail proves nothing. The guards are in {@code guards.txt}: each one an edit of the sources
 * of core, which are copied, never changed, and the tests that must notice.
 *
 * <p>Arguments: the directory of the sources, a directory for the results, and, if not all guards
 * are meant, a pattern of their names. Prints a row of a table for each test.
 */
public final class Guards {
  private static final Pattern FORBIDDEN =
      Pattern.compile("^ *(\\S.*?) {2,}([\\d,]+) {2,}\\S+%? {2,}Forbidden {2,}(.*)$");

  private final Path sources;
  private final Path results;
  private int blind;

  private Guards(Path sources, Path results) {
    this.sources = sources;
    this.results = results;
  }

  public static void main(String[] args) throws IOException, InterruptedException {
    Guards guards = new Guards(Path.of(args[0]), Path.of(args[1]));
    Pattern wanted = Pattern.compile(args.length > 2 ? args[2] : "");
    for (Guard guard : read()) {
      if (wanted.matcher(guard.name).find()) {
        guards.takeOut(guard);
      }
    }
    if (guards.blind > 0) {
      System.err.println("guards: " + guards.blind + " tests did not notice");
      System.exit(1);
    }
  }

  private void takeOut(Guard guard) throws IOException, InterruptedException {
    Path directory = results.resolve(guard.name.replaceAll("\\W+", "-"));
    Path classes = compile(guard, directory);
    for (String test : guard.tests) {
      Path output = directory.resolve(test + ".txt");
      run(test, classes, directory, output);
      String seen = seen(output);
      if (seen.isEmpty()) {
        blind++;
        seen = "**not noticed**";
      }
      System.out.println(
          "| " + guard.name + " | " + guard.edits() + " | `" + test + "` | " + seen + " |");
    }
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
            target, guard.edit(file.getFileName().toString(), Files.readString(file)));
        command.add(target.toString());
      }
    }
    guard.requireAllApplied();
    int status =
        ToolProvider.getSystemJavaCompiler().run(null, null, null, command.toArray(String[]::new));
    if (status != 0) {
      throw new IllegalStateException("does not compile without its guard: " + guard.name);
    }
    return classes;
  }

  private static void run(String test, Path classes, Path directory, Path output)
      throws IOException, InterruptedException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            classes.toAbsolutePath()
                + File.pathSeparator
                + Jcstress.absolute(System.getProperty("java.class.path")),
            Jcstress.class.getName(),
            directory.resolve(test).toAbsolutePath().toString(),
            "^" + Pattern.quote("io.timewheel." + test) + "$",
            "-m",
            "quick",
            "-sc",
            "false",
            "-f",
            "1",
            "-iters",
            "5",
            "-time",
            "500",
            "-jvmArgs",
            "-Xmx256m");
    new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(output.toFile())
        .start()
        .waitFor();
  }

  /** What the summary of a run lists as forbidden: outcome, how often, and what it means. */
  private static String seen(Path output) throws IOException {
    List<String> lines = Files.readAllLines(output);
    int summary = lines.indexOf("RUN RESULTS:");
    if (summary < 0) {
      return "";
    }
    List<String> results = lines.subList(summary, lines.size());
    String outcomes =
        results.stream()
            .map(FORBIDDEN::matcher)
            .filter(Matcher::matches)
            .filter(row -> !row.group(2).equals("0"))
            .map(row -> "`" + row.group(1) + "` " + row.group(2) + " × " + row.group(3))
            .collect(Collectors.joining("; "));
    return outcomes.isEmpty() ? error(results) : outcomes;
  }

  /** The first error that a test ended with. */
  private static String error(List<String> results) {
    return results.stream()
        .map(String::strip)
        .filter(line -> line.matches("(java|io\\.timewheel)\\.[\\w.$]*(Exception|Error)\\b.*"))
        .map(line -> "`" + line.split(":", 2)[0] + "`")
        .findFirst()
        .orElse("");
  }

  private static List<Guard> read() throws IOException {
    List<Guard> guards = new ArrayList<>();
    try (InputStream table =
            Objects.requireNonNull(Guards.class.getResourceAsStream("guards.txt"));
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(table, StandardCharsets.UTF_8))) {
      String file = "";
      String before = "";
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.isBlank() || line.startsWith("#")) {
          continue;
        }
        String key = line.split(" ", 2)[0];
        String value = line.substring(key.length()).strip();
        switch (key) {
          case "guard" -> guards.add(new Guard(value));
          case "file" -> file = value;
          case "-" -> before = value;
          case "+" -> last(guards).edits.add(new Edit(file, before, value));
          case "tests" -> last(guards).tests.addAll(List.of(value.split(" ")));
          default -> throw new IllegalArgumentException("guards.txt: " + line);
        }
      }
    }
    return guards;
  }

  private static Guard last(List<Guard> guards) {
    return guards.get(guards.size() - 1);
  }

  /** A guard, how it is taken out, and who must notice. */
  private static final class Guard {
    final String name;
    final List<Edit> edits = new ArrayList<>();
    final List<String> tests = new ArrayList<>();
    private int applied;

    Guard(String name) {
      this.name = name;
    }

    String edit(String file, String source) {
      String edited = source;
      for (Edit edit : edits) {
        if (edit.file.equals(file)) {
          edited = edit.apply(edited);
          applied++;
        }
      }
      return edited;
    }

    void requireAllApplied() {
      if (applied != edits.size()) {
        throw new IllegalStateException("a file to be edited does not exist: " + name);
      }
    }

    String edits() {
      return edits.stream().map(Edit::toString).collect(Collectors.joining("; "));
    }
  }

  /** One piece of a source replaced; blanks and line breaks in it do not matter. */
  private record Edit(String file, String before, String after) {
    String apply(String source) {
      Matcher found =
          Pattern.compile(
                  Stream.of(before.split(" "))
                      .map(Pattern::quote)
                      .collect(Collectors.joining("\\s+")))
              .matcher(source);
      if (!found.find()) {
        throw new IllegalStateException(file + " has no longer: " + before);
      }
      String edited = source.substring(0, found.start()) + after + source.substring(found.end());
      if (found.find()) {
        throw new IllegalStateException(file + " has more than once: " + before);
      }
      return edited;
    }

    @Override
    public String toString() {
      return "`"
          + file.replace(".java", "")
          + "`: `"
          + before
          + "` → "
          + (after.isEmpty() ? "nothing" : "`" + after + "`");
    }
  }
}
