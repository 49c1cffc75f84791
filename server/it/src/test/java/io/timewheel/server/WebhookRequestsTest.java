// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Running.Answer;
import io.timewheel.server.webhook.AddressPolicy;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests API requests about timers whose target is a URL. These tests call no URL. */
class WebhookRequestsTest {
  private static final String LIST = "/v1/namespaces/shop/timers";

  @TempDir private static Path directory;
  private static Running running;

  @BeforeAll
  static void start() {
    running = new Running(Running.secrets(directory, "shop"), AddressPolicy.admitting(List.of()));
  }

  @AfterAll
  static void stop() {
    running.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "'url':'https://shop.example/' | 422 | target.secret",
        "'url':'https://shop.example/','secret':'none' | 422 | target.secret",
        "'url':'https://shop.example/','secret':'whsec_x' | 422 | target.secret",
        "'url':'/hooks','secret':'shop' | 422 | target.url",
        "'url':'http://[::1','secret':'shop' | 422 | target.url",
        "'url':'https://a:b@shop.example/','secret':'shop' | 422 | target.url",
        "'url':5,'secret':'shop' | 400 | target.url",
        "'url':'https://shop.example/','secret':'shop','timeout':'PT2M' | 422 | target.timeout",
        "'url':'https://shop.example/','secret':'shop','timeout':'soon' | 422 | target.timeout",
        "'url':'https://shop.example/','secret':'shop','headers':{'Host':'x'} | 422 |"
            + " target.headers",
        "'url':'https://shop.example/','secret':'shop','headers':{'webhook-id':'x'} | 422 |"
            + " target.headers",
        "'url':'https://shop.example/','secret':'shop','headers':{'X':null} | 400 |"
            + " target.headers.X",
        "'url':'https://shop.example/','secret':'shop','color':'red' | 400 | target.color",
        "'queue':'q','secret':'shop' | 422 | target",
        "'secret':'shop' | 422 | target"
      })
  void refusesATargetAndNamesTheField(String target, int status, String field) {
    String body = "{'after':'PT1H','target':{%s}}".formatted(target).replace('\'', '"');
    Answer put = running.put(LIST + "/refused", body);

    assertThat(put.status()).as(put.response().body()).isEqualTo(status);
    assertThat(put.text("field")).isEqualTo(field);
    assertThat(put.response().body()).doesNotContain("whsec_");
    Answer batch =
        running.post(
            LIST + ":batch",
            "{\"timers\":[" + body.replaceFirst("\\{", "{\"id\":\"refused\",") + "]}");
    assertThat(batch.json().at("/results/0/status").asInt()).isEqualTo(status);
    assertThat(batch.json().at("/results/0/error/field").asString()).isEqualTo(field);
    assertThat(running.get(LIST + "/refused").status()).isEqualTo(404);
  }

  @Test
  void aServerWithoutSecretsRefusesUrls() {
    try (Running other = new Running()) {
      Answer put =
          other.put(
              LIST + "/a",
              "{\"after\":\"PT1H\",\"target\":{\"url\":\"https://shop.example/\",\"secret\":\"shop\"}}");

      assertThat(put.status()).isEqualTo(422);
      assertThat(put.text("detail")).contains("--webhook-secrets");
    }
  }

  @Test
  void theSameAgainChangesNothing() {
    String body =
        """
        {"cron":"0 9 * * *","target":{"url":"https://shop.example/","secret":"shop","timeout":"PT5S","headers":{"X":"y"}}}
        """;
    Answer first = running.put(LIST + "/a", body);
    Answer again = running.put(LIST + "/a", body);
    Answer other = running.put(LIST + "/a", body.replace("\"y\"", "\"z\""));

    assertThat(first.status()).isEqualTo(201);
    assertThat(again.header("ETag")).isEqualTo(first.header("ETag"));
    assertThat(other.header("ETag")).isNotEqualTo(first.header("ETag"));
  }
}
