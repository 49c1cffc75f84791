// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.server.settings.CommandException;
import io.timewheel.server.webhook.ConfiguredSecret;
import io.timewheel.server.webhook.SecretSource;
import io.timewheel.server.webhook.WebhookSecret;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class ServeOptionsTest {
  private static final List<WebhookSecret> KEYS =
      List.of(WebhookSecret.parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
  private static final SecretSource SECRETS =
      name ->
          switch (name) {
            case "ops" -> new ConfiguredSecret(KEYS, "", Set.of(), Set.of());
            case "header" -> new ConfiguredSecret(List.of(), "x", Set.of(), Set.of());
            case "shop" -> new ConfiguredSecret(KEYS, "", Set.of("shop"), Set.of());
            default -> null;
          };

  @Command
  private static final class Holder {
    @Mixin private ServeOptions options = new ServeOptions();
  }

  private static ServeOptions options(String line) {
    Holder holder = new Holder();
    new CommandLine(holder).parseArgs(line.isEmpty() ? new String[0] : line.split(" ", -1));
    return holder.options;
  }

  @Test
  void postsNoEventsByDefault() throws IOException {
    assertThat(options("").webhooks.failedWebhook(SECRETS)).isNull();
  }

  @Test
  void takesAUrlAndASecret() throws IOException {
    var target =
        options("--failed-webhook https://alerts.example/x --failed-secret ops")
            .webhooks
            .failedWebhook(SECRETS);
    assertThat(target).isNotNull();
    assertThat(target.host()).isEqualTo("alerts.example");
    assertThat(target.secret()).isEqualTo("ops");
  }

  @ParameterizedTest
  @CsvSource({
    "--failed-webhook https://alerts.example --failed-secret none, --failed-secret: no secret",
    "--failed-webhook https://alerts.example --failed-secret header, --failed-secret: no secret",
    "--failed-webhook https://alerts.example --failed-secret shop, --failed-secret: no secret"
  })
  void refusesATargetThatCannotBePosted(String line, String message) {
    assertThatThrownBy(() -> options(line).webhooks.failedWebhook(SECRETS))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ftp://alerts.example", "alerts", "https://a:b"})
  void aMalformedUrlIsWrongUsage(String url) {
    String line = "--failed-webhook " + url + " --failed-secret ops";
    assertThatThrownBy(() -> options(line).webhooks.failedWebhook(SECRETS))
        .isInstanceOfSatisfying(
            CommandException.class, refusal -> assertThat(refusal.exitCode()).isEqualTo(2))
        .hasMessageContaining("--failed-webhook");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--failed-webhook https://alerts.example", "--failed-secret ops"})
  void aUrlWithoutASecretIsWrongUsage(String line) {
    assertThatThrownBy(() -> options(line).webhooks.failedWebhook(SECRETS))
        .isInstanceOfSatisfying(
            CommandException.class, refusal -> assertThat(refusal.exitCode()).isEqualTo(2))
        .hasMessageContaining("must be set together");
  }

  @ParameterizedTest
  @CsvSource({
    "--overdue-rate=0, --overdue-rate: 0 is too few (minimum: 1)",
    "--max-waiting-claims=-1, --max-waiting-claims: -1 is too few (minimum: 0)",
    "--max-streams=-1, --max-streams: -1 is too few (minimum: 0)",
    "--retain-max=-1, --retain-max: -1 is too few (minimum: 0)",
    "--retain=PT-1S, --retain: PT-1S is negative (minimum: PT0S)"
  })
  void aLimitOutOfRangeIsWrongUsage(String line, String message) {
    assertThatThrownBy(() -> options(line).check())
        .isInstanceOfSatisfying(
            CommandException.class, refusal -> assertThat(refusal.exitCode()).isEqualTo(2))
        .hasMessage(message);
  }
}
