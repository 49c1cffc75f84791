// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Compares the index of promises and tests, which {@code .ci/pages} generates, with the tests. A
 * test names its promise by {@code @Tag}; a jcstress test, which has no tags, by {@code @Ref}.
 */
class PromiseTestsPageTest {
  private static final Path ROOT = Path.of("..");
  private static final Path PROMISES = ROOT.resolve("docs/reference/guarantees.md");
  private static final Path PAGE = ROOT.resolve("docs/reference/promise-tests.md");
  private static final Set<String> SKIPPED = Set.of("target", ".git", "node_modules", "docs");

  /** A numbered promise, or one of a pattern. */
  private static final Pattern PROMISE = Pattern.compile("(?m)^(?:(\\d+)\\. |\\* \\*\\*(.+?):)");

  /** The promise that an annotation names, and the annotated class or method. */
  private static final Pattern ANNOTATION =
      Pattern.compile(
          "@(?:net\\.jqwik\\.api\\.)?(?:Tag|Ref)\\(\"promise-(\\w+)\"\\)(?=[^{;]*?\\b(void|class|interface)\\s+(\\w+))");

  private static final Map<String, SortedSet<String>> TESTS = tests();

  @Test
  void promisesAreNumberedConsecutively() throws IOException {
    List<String> numbers =
        PROMISE
            .matcher(Files.readString(PROMISES))
            .results()
            .map(promise -> promise.group(1))
            .filter(number -> number != null)
            .collect(Collectors.toList());
    assertThat(numbers)
        .hasSizeGreaterThan(60)
        .isEqualTo(
            IntStream.rangeClosed(1, numbers.size())
                .mapToObj(String::valueOf)
                .collect(Collectors.toList()));
  }

  @Test
  void everyPromiseHasATestAndEveryTagAPromise() throws IOException {
    Set<String> promises =
        PROMISE
            .matcher(Files.readString(PROMISES))
            .results()
            .map(PromiseTestsPageTest::tag)
            .collect(Collectors.toSet());
    assertThat(TESTS.keySet()).isEqualTo(promises);
  }

  @ParameterizedTest
  @CsvSource({
    "timers in memory, ## Timers in memory, ### Patterns",
    "patterns, ### Patterns, ## Durable timers",
    "durable timers, ## Durable timers, ## Several nodes",
    "several nodes, ## Several nodes, ## Not promised"
  })
  void tableIsCurrent(String section, String from, String to) throws IOException {
    String promises = Files.readString(PROMISES);
    String table =
        PROMISE
            .matcher(promises.substring(promises.indexOf(from), promises.indexOf(to)))
            .results()
            .map(PromiseTestsPageTest::row)
            .collect(Collectors.joining("", "\n| Promise | Test |\n|---|---|\n", "\n"));
    String page = Files.readString(PAGE);
    String begin = "<!-- tests of " + section + ": begin, written by .ci/pages -->\n";
    int start = page.indexOf(begin) + begin.length();
    int end = page.indexOf("<!-- tests of " + section + ": end -->");
    assertThat(start).as(begin).isGreaterThan(begin.length());
    assertThat(end).as("the end of " + begin).isGreaterThanOrEqualTo(start);
    if (Boolean.getBoolean("timewheel.pages.write")) {
      Files.writeString(PAGE, page.substring(0, start) + table + page.substring(end));
    } else {
      assertThat(page.substring(start, end)).as("to write it: .ci/pages").isEqualTo(table);
    }
  }

  private static String row(MatchResult promise) {
    String name = promise.group(1) == null ? promise.group(2) : promise.group(1);
    return TESTS.getOrDefault(tag(promise), new TreeSet<>()).stream()
        .map(test -> '`' + test + '`')
        .collect(Collectors.joining(", ", "| " + name + " | ", " |\n"));
  }

  /** Returns the number, or the name of the pattern without its quotes. */
  private static String tag(MatchResult promise) {
    return promise.group(1) == null ? promise.group(2).replace("`", "") : promise.group(1);
  }

  private static Map<String, SortedSet<String>> tests() {
    Map<String, SortedSet<String>> tests = new HashMap<>();
    try {
      Files.walkFileTree(
          ROOT,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
              return SKIPPED.contains(path.getFileName().toString())
                  ? FileVisitResult.SKIP_SUBTREE
                  : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
              String name = file.getFileName().toString();
              if (name.endsWith(".java")) {
                String source = Files.readString(file);
                checkTagsOfProperties(name, source);
                collect(name.replace(".java", ""), source, tests);
              }
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return tests;
  }

  /** With a tag of Jupiter, jqwik skips the property. */
  private static void checkTagsOfProperties(String file, String source) {
    if (source.contains("import org.junit.jupiter.api.Tag;")) {
      assertThat(source)
          .as(file + ": a property needs @net.jqwik.api.Tag")
          .doesNotContainPattern("@(?:Property|Example)\\b[^;{]*?@Tag\\(");
    }
  }

  private static void collect(String file, String source, Map<String, SortedSet<String>> tests) {
    ANNOTATION
        .matcher(source)
        .results()
        .forEach(
            annotation ->
                tests
                    .computeIfAbsent(annotation.group(1), promise -> new TreeSet<>())
                    .add(test(file, annotation)));
  }

  private static String test(String file, MatchResult annotation) {
    String name = annotation.group(3);
    if (name.equals(file)) {
      return file;
    }
    return file + (annotation.group(2).equals("void") ? "#" : ".") + name;
  }
}
