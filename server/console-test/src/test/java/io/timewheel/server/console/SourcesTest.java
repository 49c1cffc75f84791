// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Checks the sources without a browser: nothing in the console makes markup from text, or loads
 * from another origin.
 */
class SourcesTest {
  private static final Pattern MARKUP_FROM_TEXT =
      Pattern.compile(
          "innerHTML|outerHTML|insertAdjacentHTML|document\\.write|DOMParser|createContextualFragment|srcdoc|\\beval\\(|new"
              + " Function|\"style\"|javascript:");
  private static final Pattern ELSEWHERE =
      Pattern.compile("(https?:)?//(?!www\\.w3\\.org/2000/svg)[a-z0-9-]+\\.[a-z]");
  private static final Pattern INLINE =
      Pattern.compile("<style|<script(?![^>]*src=)|\\son[a-z]+=|\\sstyle=");

  static Stream<Path> files() throws IOException, URISyntaxException {
    URL folder =
        Objects.requireNonNull(
            SourcesTest.class.getResource("/io/timewheel/server/console/index.html"));
    try (Stream<Path> files = Files.list(Path.of(folder.toURI()).getParent())) {
      return files.filter(file -> !file.toString().endsWith(".class")).sorted().toList().stream();
    }
  }

  @ParameterizedTest
  @MethodSource("files")
  void makesNoMarkupFromTextAndLoadsNothingFromElsewhere(Path file) throws IOException {
    String source = Files.readString(file);
    String code =
        source
            .replaceAll("(?m)^\\s*(//|\\*|/\\*).*$", "")
            .replaceAll("placeholder: \"[^\"]*\"", "");
    assertThat(code).doesNotContainPattern(MARKUP_FROM_TEXT).doesNotContainPattern(ELSEWHERE);
    if (file.toString().endsWith(".html")) {
      assertThat(code).doesNotContainPattern(INLINE);
    }
    assertThat(source.lines().count()).as("lines").isLessThanOrEqualTo(500);
  }
}
