// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Verifies each tutorial, and the testing guide: the files compile, and the commands print the
 * texts that the page shows.
 */
@Timeout(300)
class TutorialTest {
  private static final Pattern DEPENDENCY =
      Pattern.compile(
          "<groupId>([^<]+)</groupId>\\s*<artifactId>([^<]+)</artifactId>\\s*<version>([^<]+)<");

  private final Path directory;

  TutorialTest(@TempDir Path directory) {
    this.directory = directory;
  }

  @Test
  void memory() throws Exception {
    new Tutorial("tutorials/memory.md", directory).follow(Map.of());
  }

  @Test
  void embedded() throws Exception {
    new Tutorial("tutorials/embedded.md", directory).follow(Map.of());
  }

  @Test
  void postgresql() throws Exception {
    Tutorial.assumeInstalled("psql");
    Database database = TestDatabases.postgresql().createDatabase();
    String url = database.with("user", database.user()).with("password", database.password()).url();
    new Tutorial("tutorials/postgresql.md", directory).follow(Map.of("SHOP_DB", url));
  }

  @Test
  void http() throws Exception {
    Tutorial.assumeInstalled("curl");
    Tutorial.assumeInstalled("python3");
    int port = Tutorial.freePort();
    new Tutorial("tutorials/http.md", directory, Map.of(":7400", ":" + port))
        .follow(Map.of("TIMEWHEEL_PORT", String.valueOf(port)));
  }

  @Test
  void testsOverHttp() throws Exception {
    Tutorial.assumeInstalled("python3");
    new Tutorial("guides/testing.md", directory).follow(Map.of());
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory.md", "embedded.md", "postgresql.md"})
  void dependenciesHaveTheVersionsOfThisBuild(String page) throws IOException {
    String bom = Files.readString(Path.of("../../bom/pom.xml"));
    String parent = Files.readString(Path.of("../../pom.xml"));
    String pom = new Tutorial("tutorials/" + page, directory).texts("xml").get(0);

    assertThat(DEPENDENCY.matcher(pom).results().skip(1))
        .isNotEmpty()
        .allSatisfy(
            found ->
                assertThat(found.group(1).equals("io.timewheel") ? bom : parent)
                    .contains(expectedIn(found)));
  }

  private static String expectedIn(MatchResult found) {
    String version = found.group(3);
    return switch (found.group(2)) {
      case "postgresql" -> "<postgresql.version>" + version + "<";
      case "HikariCP" -> "<hikaricp.version>" + version + "<";
      default -> "<artifactId>" + found.group(2) + "<";
    };
  }
}
