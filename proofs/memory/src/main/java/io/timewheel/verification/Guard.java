// SPDX-License-Identifier: Apache-2.0
package io.timewheel.verification;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.openjdk.jcstress.infra.runners.TestList;

/**
 * A guard against a race, with the edit that removes it from the sources, and the tests that must
 * notice.
 */
final class Guard {
  /** The package of the tests, which {@code guards.txt} omits. */
  static final String PACKAGE = "io.timewheel.";

  final String name;
  final List<String> tests = new ArrayList<>();
  private final List<Edit> edits = new ArrayList<>();
  String vmOptions = "";
  private String note = "";
  private int applied;

  private Guard(String name) {
    this.name = name;
  }

  /**
   * Returns the guards of {@code guards.txt}, which describes its own format.
   *
   * @throws IllegalStateException if the file does not list all tests, or lists one that does not
   *     exist
   */
  static List<Guard> all() throws IOException {
    List<Guard> guards = new ArrayList<>();
    Set<String> excepted = new TreeSet<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                Objects.requireNonNull(Guard.class.getResourceAsStream("guards.txt")),
                StandardCharsets.UTF_8))) {
      String file = "";
      String before = "";
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.isBlank() || line.startsWith("#")) {
          continue;
        }
        String key = line.split(" ", 2)[0];
        String value = line.substring(key.length()).strip();
        Guard guard = guards.isEmpty() ? null : guards.get(guards.size() - 1);
        switch (key) {
          case "guard" -> guards.add(new Guard(value));
          case "file" -> file = value;
          case "-" -> before = value;
          case "+" -> Objects.requireNonNull(guard).edits.add(new Edit(file, before, value));
          case "note" -> Objects.requireNonNull(guard).note = value;
          case "vm" -> Objects.requireNonNull(guard).vmOptions = value;
          case "tests" -> Objects.requireNonNull(guard).tests.addAll(List.of(value.split(" ")));
          case "except" -> excepted.addAll(List.of(value.split(" ")));
          default -> throw new IllegalArgumentException("guards.txt: " + line);
        }
      }
    }
    requireAllTests(guards, excepted);
    return guards;
  }

  private static void requireAllTests(List<Guard> guards, Set<String> excepted) {
    Set<String> named = new TreeSet<>(excepted);
    guards.stream().map(guard -> guard.tests).forEach(named::addAll);
    Set<String> existing = new TreeSet<>();
    for (String test : TestList.tests()) {
      existing.add(test.substring(PACKAGE.length()));
    }
    requireNoneBut(named, existing, "named by no guard");
    requireNoneBut(existing, named, "not a test");
  }

  private static void requireNoneBut(Collection<String> right, Set<String> all, String fault) {
    Set<String> wrong = new TreeSet<>(all);
    wrong.removeAll(right);
    if (!wrong.isEmpty()) {
      throw new IllegalStateException("guards.txt: " + fault + ": " + wrong);
    }
  }

  /** Returns the text of a source file without this guard. */
  String takeOutOf(String file, String source) {
    String edited = source;
    for (Edit edit : edits) {
      if (edit.file.equals(file)) {
        edited = edit.apply(edited);
        applied++;
      }
    }
    return edited;
  }

  void requireTakenOut() {
    if (applied != edits.size()) {
      throw new IllegalStateException("a file to be edited does not exist: " + name);
    }
  }

  /** Returns the edits, for a table. */
  String mutation() {
    String text = edits.stream().map(Edit::toString).collect(Collectors.joining("; "));
    return note.isEmpty() ? text : text + ". " + note;
  }

  /** A replacement of one piece of a source. Blanks and line breaks in it are ignored. */
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

    /** Escapes bars, because a bar would end the cell of the table. */
    @Override
    public String toString() {
      return (file.replace(".java", ": ") + code(before) + " → " + code(after)).replace("|", "\\|");
    }

    private static String code(String text) {
      return text.isEmpty() ? "nothing" : "`" + text + "`";
    }
  }
}
