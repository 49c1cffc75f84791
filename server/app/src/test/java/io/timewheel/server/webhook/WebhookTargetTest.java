// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.api.HeaderValue;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class WebhookTargetTest {
  private static final URI SHOP = URI.create("https://shop.example/hooks/orders");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/hooks",
        "shop.example",
        "ftp://shop.example/",
        "file:///etc/passwd",
        "https:///hooks",
        "https:shop",
        "https://user:secret@shop.example/",
        "https://shop.example/#top",
        "https://shop.example:0/",
        "https://shop.example:65536/",
        "http://0x7f.1/",
        "https://shop.example/caf\u00e9"
      })
  void refusesAUrlThatMustNotBeCalled(String url) {
    assertThatThrownBy(() -> target(WebhookTarget.parseUrl(url), Map.of(), Duration.ofSeconds(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("target.url (expected: ")
        .hasMessageNotContaining("secret");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"https://u:secret@shop.example/a b", "http://[::1", "https://sh\rop.example/"})
  void refusesAMalformedUrl(String url) {
    assertThatThrownBy(() -> WebhookTarget.parseUrl(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("target.url: ")
        .hasMessageNotContaining("secret");
  }

  @Test
  void refusesAUrlWithoutEnd() {
    assertThatThrownBy(() -> WebhookTarget.parseUrl("https://shop.example/" + "a".repeat(3_000)))
        .hasMessage("target.url: 3,021 characters (expected: at most 2,048)");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Host",
        "content-LENGTH",
        "Transfer-Encoding",
        "Connection",
        "Expect",
        "Upgrade",
        "TE",
        "Proxy-Connection",
        "webhook-id",
        "Webhook-Signature",
        "timewheel-id"
      })
  void keepsHostFramingAndItsOwnHeadersToItself(String name) {
    assertThatThrownBy(
            () -> target(SHOP, Map.of(name, HeaderValue.text("x")), Duration.ofSeconds(1)))
        .hasMessage("target.headers: " + name + " must not be set");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\r\nHost: b", "a\nb", "\u0000", "caf\u00e9"})
  void refusesAValueThatCouldEndTheHeaderWithoutShowingIt(String value) {
    assertThatThrownBy(
            () -> target(SHOP, Map.of("X-Key", HeaderValue.text(value)), Duration.ofSeconds(1)))
        .hasMessage("target.headers: the value of X-Key (expected: printable ASCII)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "a:b", "a\r\nb", "\u00e9"})
  void refusesAName(String name) {
    assertThatThrownBy(
            () -> target(SHOP, Map.of(name, HeaderValue.text("x")), Duration.ofSeconds(1)))
        .hasMessage("target.headers: not a name of a header");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Authorization", "proxy-authorization", "COOKIE"})
  void takesOnlyASecretForCredentials(String name) {
    assertThatThrownBy(
            () -> target(SHOP, Map.of(name, HeaderValue.text("hunter2")), Duration.ofSeconds(1)))
        .hasMessage(
            "target.headers.%s: a plain value (expected: {\"secret\":\"name\"})".formatted(name));
    assertThat(
            target(SHOP, Map.of(name, HeaderValue.secret("shop")), Duration.ofSeconds(1)).headers())
        .containsOnlyKeys(name);
  }

  @Test
  void boundsTheHeaders() {
    Map<String, HeaderValue> many = new HashMap<>();
    for (int i = 0; i < 33; i++) {
      many.put("X-" + i, HeaderValue.text(""));
    }
    assertThatThrownBy(() -> target(SHOP, many, Duration.ofSeconds(1)))
        .hasMessage("target.headers: 33 (expected: at most 32)");
    assertThatThrownBy(
            () ->
                target(
                    SHOP, Map.of("X", HeaderValue.text("x".repeat(8_192))), Duration.ofSeconds(1)))
        .hasMessage("target.headers: 8,193 bytes (expected: at most 8,192)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT-1S", "PT0.099S", "PT1M0.001S"})
  void boundsTheTimeout(String timeout) {
    assertThatThrownBy(() -> target(SHOP, Map.of(), Duration.parse(timeout)))
        .hasMessageStartingWith("target.timeout: ");
  }

  @Test
  void allPortsOfAHostAreOneHost() {
    assertThat(target(URI.create("HTTPS://Shop.Example/a")).host())
        .isEqualTo(target(URI.create("http://shop.example.:8080/b?c")).host())
        .isEqualTo("shop.example");
  }

  @Test
  void showsNoValueOfAHeader() {
    assertThat(
            target(SHOP, Map.of("X-Key", HeaderValue.text("k42")), Duration.ofSeconds(1))
                .toString())
        .contains("X-Key")
        .doesNotContain("42");
  }

  private static WebhookTarget target(URI url) {
    return target(url, Map.of(), WebhookTarget.DEFAULT_TIMEOUT);
  }

  private static WebhookTarget target(URI url, Map<String, HeaderValue> headers, Duration timeout) {
    return new WebhookTarget(url, "shop", headers, timeout);
  }
}
