// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
  void refusesAUrlThatIsNotToBeCalled(String url) {
    assertThatThrownBy(() -> target(WebhookTarget.parseUrl(url), Map.of(), Duration.ofSeconds(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("target.url (expected: ")
        .hasMessageNotContaining("secret");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"https://u:secret@shop.example/a b", "http://[::1", "https://sh\rop.example/"})
  void refusesWhatIsNoUrl(String url) {
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
        "Proxy-Authorization",
        "webhook-id",
        "Webhook-Signature",
        "timewheel-id"
      })
  void keepsHostFramingAndItsOwnHeadersToItself(String name) {
    assertThatThrownBy(() -> target(SHOP, Map.of(name, "x"), Duration.ofSeconds(1)))
        .hasMessage("target.headers: " + name + " is not yours to set");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\r\nHost: b", "a\nb", "\u0000", "caf\u00e9"})
  void refusesAValueThatCouldEndTheHeaderWithoutShowingIt(String value) {
    assertThatThrownBy(() -> target(SHOP, Map.of("X-Key", value), Duration.ofSeconds(1)))
        .hasMessage("target.headers: the value of X-Key (expected: printable ASCII)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "a:b", "a\r\nb", "\u00e9"})
  void refusesAName(String name) {
    assertThatThrownBy(() -> target(SHOP, Map.of(name, "x"), Duration.ofSeconds(1)))
        .hasMessage("target.headers: not a name of a header");
  }

  @Test
  void boundsTheHeaders() {
    Map<String, String> many = new HashMap<>();
    for (int i = 0; i < 33; i++) {
      many.put("X-" + i, "");
    }
    assertThatThrownBy(() -> target(SHOP, many, Duration.ofSeconds(1)))
        .hasMessage("target.headers: 33 (expected: at most 32)");
    assertThatThrownBy(() -> target(SHOP, Map.of("X", "x".repeat(8_192)), Duration.ofSeconds(1)))
        .hasMessage("target.headers: 8,193 bytes (expected: at most 8,192)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT-1S", "PT0.099S", "PT1M0.001S"})
  void boundsTheTimeout(String timeout) {
    assertThatThrownBy(() -> target(SHOP, Map.of(), Duration.parse(timeout)))
        .hasMessageStartingWith("target.timeout: ");
  }

  @Test
  void whatIsCalledAtOnePlaceSharesItsLimit() {
    assertThat(target(URI.create("HTTPS://Shop.Example/a")).origin())
        .isEqualTo(target(URI.create("https://shop.example:443/b?c")).origin())
        .isNotEqualTo(target(URI.create("http://shop.example/a")).origin());
  }

  @Test
  void showsNoValueOfAHeader() {
    assertThat(target(SHOP, Map.of("Authorization", "Bearer 42"), Duration.ofSeconds(1)).toString())
        .contains("Authorization")
        .doesNotContain("42");
  }

  private static WebhookTarget target(URI url) {
    return target(url, Map.of(), WebhookTarget.DEFAULT_TIMEOUT);
  }

  private static WebhookTarget target(URI url, Map<String, String> headers, Duration timeout) {
    return new WebhookTarget(url, "shop", headers, timeout);
  }
}
