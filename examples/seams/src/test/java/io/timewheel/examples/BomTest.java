// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class BomTest {
  private static final Path ROOT = Path.of("../..");
  private static final Pattern MODULE = Pattern.compile("<module>(.+)</module>");
  private static final Pattern OWN_ARTIFACT =
      Pattern.compile("(?s)</parent>\\s*<artifactId>(.+?)</artifactId>");
  private static final Pattern NAMED =
      Pattern.compile(
          "<groupId>io.timewheel</groupId>\\s*<artifactId>(.+)</artifactId>\\s*"
              + Pattern.quote("<version>${project.version}</version>"));

  @Test
  void bomNamesEveryModuleThatIsPublished() {
    List<String> published =
        found(MODULE, pom(ROOT)).stream()
            .filter(module -> !module.equals("bom"))
            .map(module -> pom(ROOT.resolve(module)))
            .filter(pom -> !pom.contains("<maven.deploy.skip>true"))
            .map(pom -> found(OWN_ARTIFACT, pom).get(0))
            .toList();

    assertThat(published).contains("timewheel-core").doesNotContain("timewheel-examples");
    assertThat(found(NAMED, pom(ROOT.resolve("bom"))))
        .containsExactlyInAnyOrderElementsOf(published);
  }

  private static String pom(Path module) {
    try {
      return Files.readString(module.resolve("pom.xml"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> found(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(match -> match.group(1)).toList();
  }
}
