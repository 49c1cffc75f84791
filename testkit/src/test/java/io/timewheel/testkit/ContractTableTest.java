// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Verifies the table in docs/CONTRACT.md: each guarantee has a row, and each test in it exists. */
class ContractTableTest {
  private static final Path ROOT = Path.of("..");

  @Test
  void everyGuaranteeHasARow() throws IOException {
    String contract = Files.readString(ROOT.resolve("docs/CONTRACT.md"));
    List<Integer> promises = numbers("(?m)^(\\d+)\\. ", contract);
    List<Integer> rows = numbers("(?m)^\\| (\\d+) ", contract);

    assertThat(promises)
        .isEqualTo(IntStream.rangeClosed(1, 37).boxed().collect(Collectors.toList()));
    assertThat(rows).isEqualTo(promises);
  }

  @Test
  void everyTestThatItNamesExists() throws IOException {
    String contract = Files.readString(ROOT.resolve("docs/CONTRACT.md"));
    Map<String, String> sources = sourcesByClass();
    List<MatchResult> named =
        Pattern.compile("`(\\w+)#(\\w+)`").matcher(contract).results().collect(Collectors.toList());

    assertThat(named).hasSizeGreaterThan(50);
    assertThat(named)
        .allSatisfy(
            test ->
                assertThat(sources.getOrDefault(test.group(1), ""))
                    .as(test.group())
                    .containsPattern("void\\s+" + test.group(2) + "\\("));
  }

  private static List<Integer> numbers(String pattern, String text) {
    return Pattern.compile(pattern)
        .matcher(text)
        .results()
        .map(match -> Integer.valueOf(match.group(1)))
        .collect(Collectors.toList());
  }

  private static Map<String, String> sourcesByClass() throws IOException {
    try (Stream<Path> core = Files.walk(ROOT.resolve("core/src/test"));
        Stream<Path> testkit = Files.walk(ROOT.resolve("testkit/src"))) {
      return Stream.concat(core, testkit)
          .filter(path -> path.toString().endsWith(".java"))
          .filter(path -> !path.endsWith("module-info.java") && !path.endsWith("package-info.java"))
          // Tests of both modules may have the same name; one of them is sufficient.
          .collect(
              Collectors.toMap(
                  path -> path.getFileName().toString().replace(".java", ""),
                  ContractTableTest::read,
                  String::concat));
    }
  }

  private static String read(Path path) {
    try {
      return Files.readString(path);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
