// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Verifies the index of promises and tests in docs/reference: each promise has a row, each row
 * names a test, and each named test exists.
 */
class ContractTableTest {
  private static final Path ROOT = Path.of("..");
  private static final Path PROMISES = ROOT.resolve("docs/reference/guarantees.md");
  private static final Path INDEX = ROOT.resolve("docs/reference/promise-tests.md");

  /** The name of a class, of a class in it, and of a method. */
  private static final String TEST = "`(\\w+(?:Test|Contract|Stress))(?:\\.(\\w+))?(?:#(\\w+))?`";

  private static final Set<String> SKIPPED = Set.of("target", ".git", "node_modules", "docs");

  @Test
  void everyPromiseHasARow() throws IOException {
    String promises = Files.readString(PROMISES);
    List<Integer> numbers = numbers("(?m)^(\\d+)\\. ", promises);
    List<MatchResult> patterns = found("(?m)^\\* \\*\\*(`\\w+`):", promises);
    String index = Files.readString(INDEX);

    assertThat(numbers)
        .hasSizeGreaterThan(60)
        .isEqualTo(IntStream.rangeClosed(1, numbers.size()).boxed().collect(Collectors.toList()));
    assertThat(numbers("(?m)^\\| (\\d+) ", index)).isEqualTo(numbers);
    assertThat(patterns)
        .isNotEmpty()
        .allSatisfy(pattern -> assertThat(index).contains("\n| " + pattern.group(1)));
  }

  @Test
  void everyRowNamesATest() throws IOException {
    assertThat(found("(?m)^\\| (?!Promise )[^|]+\\|(.*)\\|$", Files.readString(INDEX)))
        .hasSizeGreaterThan(60)
        .allSatisfy(row -> assertThat(row.group(1)).containsPattern(TEST));
  }

  @Test
  void everyTestThatItNamesExists() throws IOException {
    String index = Files.readString(INDEX);
    Map<String, String> sources = sourcesByClass();

    assertThat(found("`[^`|]*#\\w+`", index))
        .allSatisfy(method -> assertThat(method.group()).matches(TEST));
    assertThat(found(TEST, index))
        .hasSizeGreaterThan(200)
        .allSatisfy(
            test -> {
              String source = sources.getOrDefault(test.group(1), "");
              assertThat(source).as(test.group()).isNotEmpty();
              if (test.group(2) != null) {
                assertThat(source).as(test.group()).containsPattern("class " + test.group(2));
              }
              if (test.group(3) != null) {
                assertThat(source)
                    .as(test.group())
                    .containsPattern("void\\s+" + test.group(3) + "\\(");
              }
            });
  }

  private static List<MatchResult> found(String pattern, String text) {
    return Pattern.compile(pattern).matcher(text).results().collect(Collectors.toList());
  }

  private static List<Integer> numbers(String pattern, String text) {
    return found(pattern, text).stream()
        .map(match -> Integer.valueOf(match.group(1)))
        .collect(Collectors.toList());
  }

  /**
   * Test classes of several modules may have the same name; one of them must declare the method.
   */
  private static Map<String, String> sourcesByClass() throws IOException {
    Map<String, String> sources = new HashMap<>();
    Files.walkFileTree(
        ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            return SKIPPED.contains(directory.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            String name = file.getFileName().toString();
            if (name.endsWith(".java")) {
              sources.merge(name.replace(".java", ""), Files.readString(file), String::concat);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return sources;
  }
}
