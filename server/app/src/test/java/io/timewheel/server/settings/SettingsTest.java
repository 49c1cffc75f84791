// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.Model.OptionSpec;

/** Tests the sources of a setting without an argument. */
class SettingsTest {
  private static final List<OptionSpec> OPTIONS =
      Stream.of("--server", "--token-file", "--port", "--listen", "--log-format")
          .map(name -> OptionSpec.builder(name).build())
          .toList();

  @TempDir private Path directory;

  private Settings settings(String properties, String... variables) throws IOException {
    Path file = Files.writeString(directory.resolve("timewheel.properties"), properties);
    Map<String, String> environment = new HashMap<>(Map.of(Settings.FILE, file.toString()));
    for (int i = 0; i < variables.length; i += 2) {
      environment.put(variables[i], variables[i + 1]);
    }
    return Settings.read(environment, OPTIONS);
  }

  @Test
  void theEnvironmentPrecedesTheFile() throws IOException {
    Settings settings = settings("port=1\nlog-format = json \n", "TIMEWHEEL_PORT", "2");

    assertThat(settings.find("port")).isEqualTo(new Settings.Found("2", "TIMEWHEEL_PORT"));
    assertThat(settings.find("log-format"))
        .isEqualTo(
            new Settings.Found("json", directory.resolve("timewheel.properties").toString()));
    assertThat(settings.find("listen")).isNull();
  }

  @Test
  void aBlankVariableIsIgnored() throws IOException {
    assertThat(settings("port=1", "TIMEWHEEL_PORT", " ").find("port").value()).isEqualTo("1");
  }

  @Test
  void onlySettingsAreLookedUp() throws IOException {
    assertThat(settings("", "TIMEWHEEL_ZONE", "UTC").find("zone")).isNull();
  }

  @Test
  void aTokenInTheEnvironmentPrecedesAnyFile() throws IOException {
    assertThat(settings("token-file=a").find("token-file").value()).isEqualTo("a");
    assertThat(settings("token-file=a", Settings.TOKEN, "t").find("token-file")).isNull();
  }

  @Test
  void anUnknownSettingIsRefused() {
    assertThatThrownBy(() -> settings("prot=1"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("prot")
        .hasMessageContaining("expected");
    assertThatThrownBy(() -> settings("port=\\u12"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("timewheel.properties");
  }

  @Test
  void anAbsentFileIsRefused() {
    assertThatThrownBy(() -> Settings.read(Map.of(Settings.FILE, "/nowhere/timewheel"), OPTIONS))
        .isInstanceOf(IOException.class);
  }

  @Test
  void onlyAConfiguredFileIsRead() throws IOException {
    assertThat(Settings.read(Map.of(), OPTIONS).find("server")).isNull();
  }
}
