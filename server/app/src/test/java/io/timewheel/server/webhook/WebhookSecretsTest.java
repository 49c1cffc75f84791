// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

    assertThat(secret.admits("orders", "https://shop.example:443")).isTrue();
    assertThat(secret.admits("bills", "https://eu.crm.example:443")).isTrue();
    assertThat(secret.admits("others", "https://shop.example:443")).isFalse();
    assertThat(secret.admits("orders", "https://crm.example:443")).isFalse();
    assertThat(secret.admits("orders", "https://shop.example.evil.example:443")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "shop.example, https://shop.example/a, true",
    "SHOP.example, https://Shop.EXAMPLE.:443/, true",
    "shop.example, http://shop.example/, false",
    "127.0.0.1, http://127.0.0.1:8000/, true",
    "LOCALHOST, https://localhost/, true",
    "[::1], http://[::1]:8000/, true",
    "https://localhost, http://localhost/, false",
    "127.0.0.1:8000, https://127.0.0.1:8443/, false",
    "localhost, http://localhost.shop.example/, false",
    "shop.example, http://shop.example:443/, false",
    "shop.example, https://shop.example:8443/, false",
    "shop.example:8443, https://shop.example:8443/, true",
    "shop.example:8443, https://shop.example/, false",
    "http://shop.example, http://shop.example/, true",
    "http://shop.example, https://shop.example/, false",
    "http://shop.example, http://shop.example:8000/, false",
    "http://*.shop.example:8000, http://eu.shop.example:8000/, true",
    "*.shop.example, https://eu.shop.example:8000/, false",
    "https://[::1]:8443, https://[::1]:8443/, true",
    "*:8443, https://any.example:8443/, true",
    "*:8443, https://any.example/, false",
    "*, http://any.example:8000/, true"
  })
  void bindsASecretToSchemeAndPort(String host, URI url, boolean admitted) throws IOException {
    Path file = file("shop host=" + host + " " + ONE, "rw-------");
    WebhookTarget target = new WebhookTarget(url, "shop", Map.of(), WebhookTarget.DEFAULT_TIMEOUT);

    assertThat(WebhookSecrets.open(file).find("shop").admits("any", target.origin()))
        .isEqualTo(admitted);
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
        "shop host=ftp://a " + ONE,
        "shop host=a/b " + ONE,
        "shop host=a:b " + ONE,
        "shop hosts=a " + ONE,
        "a " + ONE + "\na " + OTHER,
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw " + ONE + "\nMfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw " + ONE,
        "shop namespace=," + ONE + " " + ONE,
        "shop namespace=" + ONE,
        "shop header=\u20ac" + ONE,
        "{\"shop\":\"" + ONE + "\"}",
        "\ufeffshop " + ONE
      })
  void refusesAMalformedFileWithoutShowingASecret(String content) throws IOException {
    Path file = file("first " + OTHER + "\n" + content, "rw-------");

    assertThatThrownBy(() -> WebhookSecrets.open(file))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file + ", line ")
        .hasMessageNotContaining("MfKQ")
        .hasMessageNotContaining("C2FV");
  }

  @Test
  void refusesAFileThatIsNotText() throws IOException {
    Path file = file("shop " + ONE, "rw-------");
    Files.write(file, new byte[] {(byte) 0xff});

    assertThatThrownBy(() -> WebhookSecrets.open(file))
        .hasMessage(file + ": cannot be read: it is not UTF-8");
  }

  @Test
  void refusesAFileThatOthersCanRead() throws IOException {
    Path file = file("shop " + ONE, "rw-r--r--");

    assertThatThrownBy(() -> WebhookSecrets.open(file)).hasMessageContaining("chmod 600");
  }
}
