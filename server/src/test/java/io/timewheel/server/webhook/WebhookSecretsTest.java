// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the file of secrets. */
final class WebhookSecretsTest {
  private static final String ONE = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  private static final String OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

  @TempDir private Path directory;

  private Path file(String content, String permissions) throws IOException {
    Path file = Files.writeString(directory.resolve("secrets"), content);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
  }

  @Test
  void findsOneOrTwoByName() throws IOException {
    String content = "# of the shop\n\n shop\t" + ONE + " \nrotated " + OTHER + "  " + ONE;
    WebhookSecrets secrets = WebhookSecrets.open(file(content, "rw-r-----"));

    assertThat(secrets.find("shop").keys()).hasSize(1);
    assertThat(secrets.find("shop").headerValue()).isEqualTo(ONE);
    assertThat(secrets.find("rotated").keys()).hasSize(2);
    assertThat(secrets.find("rotated").headerValue()).isEqualTo(OTHER);
    assertThat(secrets.find("none")).isNull();
    assertThat(secrets.find("#")).isNull();
  }

  @Test
  void readsTheValuesOfHeaders() throws IOException {
    ConfiguredSecret secret =
        WebhookSecrets.open(file("crm header=Bearer a b=c ", "rw-------")).find("crm");

    assertThat(secret.keys()).isEmpty();
    assertThat(secret.headerValue()).isEqualTo("Bearer a b=c");
    assertThat(secret.toString()).doesNotContain("Bearer");
  }

  @Test
  void restrictsASecretToNamespacesAndHosts() throws IOException {
    String line = "shop namespace=orders,bills host=shop.example,*.crm.example " + ONE;
    ConfiguredSecret secret = WebhookSecrets.open(file(line, "rw-------")).find("shop");

    assertThat(secret.admits("orders", "shop.example")).isTrue();
    assertThat(secret.admits("bills", "eu.crm.example")).isTrue();
    assertThat(secret.admits("others", "shop.example")).isFalse();
    assertThat(secret.admits("orders", "crm.example")).isFalse();
    assertThat(secret.admits("orders", "shop.example.evil.example")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "shop",
        ONE,
        ONE + " shop",
        "shop " + ONE + " " + ONE + " " + ONE,
        "shop " + ONE + "x",
        "sh/op " + ONE,
        "shop header=",
        "shop header=\u0007" + ONE,
        "shop host= " + ONE,
        "shop hosts=a " + ONE,
        "a " + ONE + "\na " + OTHER
      })
  void refusesAMalformedFileWithoutShowingASecret(String content) throws IOException {
    Path file = file("first " + OTHER + "\n" + content, "rw-------");

    assertThatThrownBy(() -> WebhookSecrets.open(file))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file + ", line ")
        .hasMessageNotContaining("whsec_MfKQ")
        .hasMessageNotContaining("whsec_C2FV");
  }

  @Test
  void refusesAFileThatOthersCanRead() throws IOException {
    Path file = file("shop " + ONE, "rw-r--r--");

    assertThatThrownBy(() -> WebhookSecrets.open(file)).hasMessageContaining("chmod 600");
  }
}
