// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Verifies that the examples or the tests of the adapters contain, and so compile, the code in the
 * guides. Also verifies that every listed log line exists, and that no document has a dead link.
 */
class DocumentationTest {
  private static final Path ROOT = Path.of("../..");

  private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\\n(.*?)^```$");

  /** Matches the code in the second column of a table whose first column links to the example. */
  private static final Pattern SEAM = Pattern.compile("(?m)^\\| \\[[^|]*\\| `([^`|]+)` \\|");

  private static final Pattern FIRST_COLUMN = Pattern.compile("(?m)^\\| ([^|]*) \\|");

  private static final Pattern LITERAL = Pattern.compile("\"([^\"\\n]*)\"");

  private static final Pattern WARNING =
      Pattern.compile("(?s)LOG\\.log\\(\\s*System\\.Logger\\.Level\\.(?:WARNING|ERROR),(.*?)\\);");

  private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");

  /** Matches a link to a file of this repository. */
  private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:)([^)#\\s]+)");

  /** The text of all source files, without white space. */
  private static String sources;

  @BeforeAll
  static void readSources() throws IOException {
    StringBuilder text = new StringBuilder();
    for (String module :
        List.of("examples/seams", "examples/migrating", "adapters/netty", "adapters/dubbo")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src"))) {
        for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
          text.append(withoutSpace(Files.readString(file)));
        }
      }
    }
    sources = text.toString();
  }

  @Test
  void everyBlockIsCompiled() throws IOException {
    for (String guide :
        List.of(
            "migrate/memory.md",
            "migrate/durable.md",
            "migrate/queues.md",
            "operate/embedded.md",
            "guides/patterns.md",
            "guides/recurring.md",
            "guides/testing.md")) {
      List<String> blocks = found(BLOCK, guide(guide));

      assertThat(blocks).isNotEmpty().allSatisfy(DocumentationTest::isCompiled);
    }
  }

  @Test
  void theDurableExampleOfTheReadmeIsCompiled() throws IOException {
    List<String> blocks = found(BLOCK, Files.readString(ROOT.resolve("README.md")));

    assertThat(blocks)
        .filteredOn(block -> block.contains("DurableTimer"))
        .hasSize(1)
        .allSatisfy(DocumentationTest::isCompiled);
  }

  @Test
  void everySeamIsCompiled() throws IOException {
    List<String> seams = found(SEAM, guide("guides/integrations.md"));

    assertThat(seams).hasSize(12).allSatisfy(DocumentationTest::isCompiled);
  }

  @Test
  void everyLogLineIsInTheSource() throws IOException {
    String texts = texts(source("durable/engine", "durable/rocksdb", "durable/jdbc", "server/app"));

    assertThat(linesOf("## Log lines", "## Damage"))
        .hasSizeGreaterThan(40)
        .allSatisfy(line -> assertThat(isIn(texts, line)).as(line).isTrue());
  }

  @Test
  void everyWarningIsALogLine() throws IOException {
    List<String> lines = linesOf("## Log lines", "## Errors");
    List<String> warnings =
        found(WARNING, source("durable/engine", "durable/rocksdb", "durable/jdbc"));

    assertThat(warnings)
        .filteredOn(warning -> warning.contains("\"")) // OperatorLog logs the texts of others
        .hasSizeGreaterThan(25)
        .allSatisfy(
            warning -> {
              String texts = texts(warning);
              assertThat(lines).as(texts).anyMatch(line -> isIn(texts, line));
            });
  }

  /**
   * Returns the quoted texts in the first column of the tables between two headings of the
   * troubleshooting page.
   */
  private static List<String> linesOf(String heading, String nextHeading) throws IOException {
    String guide = guide("operate/troubleshooting.md");
    String tables = guide.substring(guide.indexOf(heading), guide.indexOf(nextHeading));
    return found(QUOTED, String.join("\n", found(FIRST_COLUMN, tables)));
  }

  /** Returns whether texts contain all fixed parts of a line, which are separated by ellipses. */
  private static boolean isIn(String texts, String line) {
    return Stream.of(line.split("…")).allMatch(part -> texts.contains(part.strip()));
  }

  /** Returns the sources with log messages, with each split text joined. */
  private static String source(String... modules) throws IOException {
    StringBuilder text = new StringBuilder();
    for (String module : modules) {
      Path main = ROOT.resolve(module).resolve("src/main/java");
      try (Stream<Path> files = Files.walk(main)) {
        for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
          text.append(Files.readString(file).replaceAll("\"\\s*\\+\\s*\"", ""));
        }
      }
    }
    return text.toString();
  }

  /**
   * Returns the string literals of a source as they appear in the log: message formats double their
   * apostrophes.
   */
  private static String texts(String source) {
    return String.join("\n", found(LITERAL, source)).replace("''", "'");
  }

  @Test
  void everyLinkLeadsToAFile() throws IOException {
    List<Path> targets = new ArrayList<>();
    try (Stream<Path> top = Files.list(ROOT);
        Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
      for (Path file :
          Stream.concat(top, docs).filter(f -> f.toString().endsWith(".md")).toList()) {
        for (String link : found(LINK, Files.readString(file))) {
          targets.add(file.resolveSibling(link));
        }
      }
    }

    assertThat(targets).isNotEmpty().allSatisfy(target -> assertThat(target).exists());
  }

  @Test
  void codeThatIsNotCompiledIsNoticed() {
    String notCompiled = "Timer timer" + " = new TimerThatIsNot();\n";
    List<String> blocks = found(BLOCK, "Text.\n\n```java\n" + notCompiled + "```\n\nText.\n");

    assertThat(blocks).containsExactly(notCompiled);
    assertThatThrownBy(() -> isCompiled(notCompiled)).hasMessageContaining(notCompiled);
  }

  private static void isCompiled(String code) {
    assertThat(sources.contains(withoutSpace(code))).as(code).isTrue(); // the text is too long
  }

  private static List<String> found(Pattern pattern, String text) {
    List<String> found = new ArrayList<>();
    for (MatchResult match : pattern.matcher(text).results().toList()) {
      found.add(match.group(1));
    }
    return found;
  }

  private static String guide(String name) throws IOException {
    return Files.readString(ROOT.resolve("docs").resolve(name));
  }

  private static String withoutSpace(String text) {
    return text.replaceAll("\\s+", "");
  }
}
