// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.webhook.WebhookAnswer.Meaning;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class WebhookAnswerTest {
  private static final Instant NOW = Instant.parse("2026-12-01T09:00:00Z");

  @ParameterizedTest
  @CsvSource({
    "200, DONE",
    "204, DONE",
    "299, DONE",
    "301, FAILED",
    "307, FAILED",
    "400, FAILED",
    "404, FAILED",
    "410, GONE",
    "429, FAILED",
    "500, FAILED",
    "503, FAILED"
  })
  void onlyAnAnswerOf2xxIsDone(int status, Meaning meaning) {
    assertThat(WebhookAnswer.of(status, null, "", NOW).meaning()).isEqualTo(meaning);
  }

  @ParameterizedTest
  @CsvSource({
    "429, 30, PT30S",
    "503, 0, PT0S",
    "503, ' 7 ', PT7S",
    "503, 'Tue, 01 Dec 2026 09:00:20 GMT', PT20S",
    "429, 'Tue, 01 Dec 2026 08:00:00 GMT', PT0S",
    "429, 999999999, PT24H",
    "429, 'Fri, 01 Dec 2090 08:00:00 GMT', PT24H",
    "429, -1,",
    "429, soon,",
    "429, 9999999999999999999,",
    "429, ,",
    "500, 30,",
    "200, 30,"
  })
  void observesRetryAfterOf429And503(int status, String header, java.time.Duration wait) {
    assertThat(WebhookAnswer.of(status, header, "", NOW).retryAfter()).isEqualTo(wait);
  }

  @Test
  void describesItself() {
    assertThat(WebhookAnswer.of(500, null, " out of cheese\n", NOW).describe("shop.example"))
        .isEqualTo("shop.example answered 500: out of cheese");
    assertThat(WebhookAnswer.of(404, null, "", NOW).describe("shop.example"))
        .isEqualTo("shop.example answered 404");
  }
}
