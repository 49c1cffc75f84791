// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.cli.Main;
import io.timewheel.server.security.Role;
import io.timewheel.server.security.Tokens;
import io.timewheel.server.settings.Quota;
import io.timewheel.server.settings.Settings;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;

/** Tests {@code timewheel config}. */
class ConfigCommandTest {
  @TempDir private Path directory;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(Map<String, String> environment, String... words) throws IOException {
    CommandLine line = Main.commandLine(environment);
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(words);
  }

  private static String at(JsonNode settings, String name) {
    for (JsonNode row : settings.get("settings")) {
      if (row.get("setting").asString().equals(name)) {
        return row.get("value").asString() + " from " + row.get("source").asString();
      }
    }
    return "none";
  }

  @Test
  void showsEachValueAndWhereItCameFrom() throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("timewheel.properties"),
            "port=1\nlisten=::1\nhost=a,b\ninsecure=true\nserver=http://localhost:9\n");
    Map<String, String> environment =
        Map.of(
            Settings.FILE, file.toString(), "TIMEWHEEL_LISTEN", "127.0.0.2", "TIMEWHEEL_PORT", "2");

    assertThat(run(environment, "config", "--port", "3", "-o", "json")).as(err + "").isZero();

    JsonNode settings = Running.MAPPER.readTree(out.toString());
    assertThat(at(settings, "port")).isEqualTo("3 from --port");
    assertThat(at(settings, "listen")).isEqualTo("127.0.0.2 from TIMEWHEEL_LISTEN");
    assertThat(at(settings, "insecure")).isEqualTo("true from " + file);
    assertThat(at(settings, "host")).contains("a").contains("b").endsWith(" from " + file);
    assertThat(at(settings, "server")).isEqualTo("http://localhost:9 from " + file);
    assertThat(at(settings, "log-format")).isEqualTo("text from default");
    assertThat(at(settings, "audit-log")).isEqualTo("- from default");
  }

  @Test
  void showsTheLinesOfTheFileOfLimits() throws IOException {
    Path limits =
        Files.writeString(
            directory.resolve("limits"),
            "queue shop/orders rate=5/s concurrency=2\nnamespace * writes=50/s # each\n");

    assertThat(run(Map.of("TIMEWHEEL_LIMITS", limits.toString()), "config", "-o", "json")).isZero();

    JsonNode settings = Running.MAPPER.readTree(out.toString());
    assertThat(at(settings, "limits")).isEqualTo(limits + " from TIMEWHEEL_LIMITS");
    assertThat(at(settings, "limit queue shop/orders"))
        .isEqualTo("rate=5/s concurrency=2 from --limits");
    assertThat(at(settings, "limit namespace *")).isEqualTo("writes=50/s from --limits");
  }

  @Test
  void showsATable() throws IOException {
    assertThat(run(Map.of(), "--server", "http://localhost:1", "config")).isZero();

    assertThat(out.toString())
        .startsWith("SETTING ")
        .containsPattern("server +http://localhost:1 +--server")
        .containsPattern("port +7400 +default\\Rlisten ")
        .doesNotContain("help");
  }

  @Test
  void refusesTheSettingsThatServeRefuses() throws IOException {
    assertThat(run(Map.of(), "config", "--port", "many")).isEqualTo(2);
    assertThat(run(Map.of(), "serve", "--port", "70000")).isEqualTo(2);
    assertThat(run(Map.of(), "serve", "--port", "-1")).isEqualTo(2);
    assertThat(run(Map.of("TIMEWHEEL_PORT", "65536"), "config")).isEqualTo(2);
    assertThat(run(Map.of("TIMEWHEEL_PORT", "many"), "config")).isEqualTo(2);
    assertThat(err.toString()).contains("65536 (expected: 0 to 65535)");
    assertThat(run(Map.of(), "config", "--color", "red")).isEqualTo(2);
    assertThat(run(Map.of(), "config", "--base-path", "timers")).isEqualTo(2);
    assertThat(run(Map.of(), "config", "--store-timeout", "PT0S")).isEqualTo(2);
    assertThat(run(Map.of(), "config", "--drain-delay", "PT2H")).isEqualTo(2);
  }

  @Test
  void refusesAnOptionThatIsGivenTwice() throws IOException {
    assertThat(run(Map.of(), "config", "--listen", "::1", "--port=1", "--port", "2")).isEqualTo(2);
    assertThat(run(Map.of(), "config", "--store", "jdbc:mariadb://a/b", "--store=jdbc:mariadb://c"))
        .isEqualTo(2);
    assertThat(err.toString())
        .startsWith("timewheel: --port: is given twice (expected: once)")
        .contains("timewheel: --store: is given twice (expected: once)");
  }

  @Test
  void anArgumentLeavesTheOtherSettingsOfItsGroup() throws IOException {
    Map<String, String> environment =
        Map.of("TIMEWHEEL_STORE_USER", "a", "TIMEWHEEL_DATA", "d", "TIMEWHEEL_MAX_STREAMS", "7");
    String[] words = {
      "config",
      "--host",
      "a",
      "--store",
      "jdbc:mariadb://x/y",
      "--host",
      "b",
      "--port",
      "0",
      "--retain",
      "PT1H",
      "-o",
      "json"
    };

    assertThat(run(environment, words)).as(err + "").isZero();

    JsonNode settings = Running.MAPPER.readTree(out.toString());
    assertThat(at(settings, "host")).isEqualTo("a,b from --host");
    assertThat(at(settings, "port")).isEqualTo("0 from --port");
    assertThat(at(settings, "listen")).isEqualTo("127.0.0.1 from default");
    assertThat(at(settings, "store-user")).isEqualTo("a from TIMEWHEEL_STORE_USER");
    assertThat(at(settings, "data")).isEqualTo("d from TIMEWHEEL_DATA");
    assertThat(at(settings, "max-streams")).isEqualTo("7 from TIMEWHEEL_MAX_STREAMS");
    assertThat(at(settings, "retain")).isEqualTo("PT1H from --retain");
  }

  @Test
  void makesTokens() throws IOException {
    Path file = directory.resolve("tokens");
    String[] words = {
      "tokens", "create", "shop", "--role", "produce", "--namespace", "a", "--namespace", "b"
    };

    assertThat(run(Map.of("TIMEWHEEL_TOKENS", file.toString()), words)).as(err + "").isZero();

    assertThat(Tokens.open(file).caller(out.toString().strip()).namespaces())
        .containsExactlyInAnyOrder("a", "b");
    assertThat(run(Map.of("TIMEWHEEL_TOKENS", file.toString()), words)).isEqualTo(4);
  }

  @Test
  void printsATokenAsJson() throws IOException {
    Path file = directory.resolve("tokens");
    String[] words = {
      "tokens", "create", "ops", "--role", "admin", "--tokens", file.toString(), "-o", "json"
    };

    assertThat(run(Map.of(), words)).as(err + "").isZero();

    JsonNode made = Running.MAPPER.readTree(out.toString());
    assertThat(made.at("/roles/0").asString()).isEqualTo("admin");
    assertThat(Tokens.open(file).caller(made.get("token").asString()).name())
        .isEqualTo(made.get("name").asString())
        .isEqualTo("ops");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"jdbc:postgresql://db.example/timers", "jdbc:mariadb://db.example/timers"})
  void aUrlWithAPasswordIsRefused(String url) throws IOException {

    assertThat(run(Map.of(), "config", "--store", url + "?user=a&password=hunter2")).isEqualTo(2);
    assertThat(run(Map.of("TIMEWHEEL_STORE", url + "?sslPassword=hunter2"), "config")).isEqualTo(2);
    assertThat(run(Map.of(), "config", "--store", "redis://db.example")).isEqualTo(2);
    assertThat(out + "" + err).doesNotContain("hunter2");
    assertThat(run(Map.of(), "config", "--store", url)).isZero();
    assertThat(out.toString()).contains(url);
  }

  @Test
  void showsTheFileOfSecretsAndNothingOfIt() throws IOException {
    Path file = directory.resolve("secrets");
    Running.secrets(directory, "shop");
    Map<String, String> environment =
        Map.of(
            "TIMEWHEEL_WEBHOOK_SECRETS",
            file.toString(),
            "TIMEWHEEL_ALLOW_TARGET",
            "10.0.0.0/8,fd00::/8");

    assertThat(run(environment, "config", "-o", "json")).as(err + "").isZero();

    JsonNode settings = Running.MAPPER.readTree(out.toString());
    assertThat(at(settings, "webhook-secrets")).isEqualTo(file + " from TIMEWHEEL_WEBHOOK_SECRETS");
    assertThat(at(settings, "allow-target"))
        .isEqualTo("10.0.0.0/8,fd00::/8 from TIMEWHEEL_ALLOW_TARGET");
    assertThat(out.toString()).doesNotContain("whsec_");
  }

  @Test
  void refusesAMalformedBlockOfTargets() throws IOException {
    for (String block : new String[] {"10.0.0.1/8", "shop.example", "10.0.0.0/33"}) {
      assertThat(run(Map.of(), "config", "--allow-target", block)).as(block).isEqualTo(2);
    }
    assertThat(err.toString()).contains("10.0.0.0/33");
  }

  @Test
  void refusesAMalformedToken() throws IOException {
    String file = directory.resolve("tokens").toString();
    String[] create = {"tokens", "create", "--tokens", file};

    for (String words :
        List.of(
            "x",
            "x --role root",
            "x --role write",
            "x --role produce,root",
            "a@@% --role read",
            "x --role read --expires P0D",
            "x --role read --expires -PT1H",
            "x --role read --expires P36501D",
            "x --role read --expires soon",
            "x --role read --max-writes 0",
            "x --role read --max-pending 5",
            "x --role read --max-claims -1")) {
      String[] all =
          Stream.concat(Stream.of(create), Stream.of(words.split(" "))).toArray(String[]::new);
      assertThat(run(Map.of(), all)).as(words).isEqualTo(2);
    }
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void aTokenHasItsRolesItsExpiryAndItsQuota() throws IOException {
    Path file = directory.resolve("tokens");
    String[] words = {
      "tokens",
      "create",
      "x",
      "--role",
      "produce,consume",
      "--role",
      "read",
      "--expires",
      "P90D",
      "--namespace",
      "shop",
      "--max-pending",
      "1000",
      "--max-claims",
      "3",
      "--max-streams",
      "2",
      "--max-writes",
      "50",
      "--tokens",
      file.toString()
    };
    Instant before = Instant.now();

    assertThat(run(Map.of(), words)).as(err + "").isZero();

    String token = out.toString().strip();
    Tokens tokens = Tokens.open(file);
    assertThat(tokens.caller(token).roles())
        .containsExactlyInAnyOrder(Role.PRODUCE, Role.CONSUME, Role.READ);
    assertThat(tokens.caller(token).quota()).isEqualTo(new Quota(1000L, 3L, 2L, 50L));
    assertThat(tokens.expiry(token))
        .isBetween(
            before.plus(Duration.ofDays(90)).minusSeconds(1),
            Instant.now().plus(Duration.ofDays(90)));
  }
}
