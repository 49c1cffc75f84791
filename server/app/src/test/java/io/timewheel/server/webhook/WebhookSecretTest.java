// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class WebhookSecretTest {
  /** The example of the specification of Standard Webhooks. */
  @Test
  void signsAsTheSpecificationShows() {
    WebhookSecret secret = WebhookSecret.parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");

    assertThat(
            secret.sign(
                "msg_p5jXN8AQM9LWM0D4loKWxJek",
                1_614_265_330,
                "{\"test\": 2432232314}".getBytes(java.nio.charset.StandardCharsets.UTF_8)))
        .isEqualTo("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "whsec_", "whsec_%%%%", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
  void refusesAMalformedSecretWithoutShowingIt(String text) {
    assertThatThrownBy(() -> WebhookSecret.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "webhook secret (expected: whsec_ and 24 to 64 bytes in Base64; or header= and a"
                + " value)")
        .hasNoCause();
  }

  @Test
  void requires24To64Bytes() {
    for (int bytes : new int[] {24, 64}) {
      WebhookSecret.parse("whsec_" + Base64.getEncoder().encodeToString(new byte[bytes]));
    }
    for (int bytes : new int[] {23, 65}) {
      String text = "whsec_" + Base64.getEncoder().encodeToString(new byte[bytes]);
      assertThatThrownBy(() -> WebhookSecret.parse(text))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void itsTextContainsNoSecret() {
    assertThat(WebhookSecret.parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        .hasToString("WebhookSecret");
  }
}
