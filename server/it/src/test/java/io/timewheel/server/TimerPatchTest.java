// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.TimerSpec;
import io.timewheel.server.Running.Answer;
import io.timewheel.server.webhook.AddressPolicy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Tests partial changes of a timer. */
class TimerPatchTest {
  private static final String TYPE = "application/merge-patch+json";
  private static final String WEBHOOK =
      """
      {"cron":"0 9 * * MON-FRI","zone":"Europe/Berlin","payload":{ "a":1.0, "b":{"c":[1]} },
       "target":{"url":"https://shop.example/","secret":"shop","timeout":"PT5S",
         "headers":{"X":"y","Cookie":{"secret":"shop"}}},
       "retry":{"maxAttempts":3,"backoff":"PT1S","maxBackoff":"PT1M"},
       "missed":"skip","grace":"PT5M","headers":{"h":"v"}}
      """;
  private static final String ONCE =
      "{\"at\":\"2099-01-01T00:00:00Z\",\"target\":{\"queue\":\"q\"},\"payload\":1}";

  @TempDir private static Path directory;
  private static Running running;
  private String path;

  @BeforeAll
  static void start() {
    running = new Running(Running.secrets(directory, "shop"), AddressPolicy.admitting(List.of()));
  }

  @AfterAll
  static void stop() {
    running.close();
  }

  @BeforeEach
  void name(TestInfo test) {
    path =
        "/v1/namespaces/shop/timers/"
            + Integer.toHexString(test.getDisplayName().hashCode())
            + test.getTestMethod().orElseThrow().getName();
  }

  private JsonNode put(String body) {
    Answer put = running.put(path, body);
    assertThat(put.status()).as(put.response().body()).isEqualTo(201);
    return put.json();
  }

  private Answer patch(String patch) {
    String etag = running.get(path).header("ETag");
    return running.send("PATCH", path, patch, "Content-Type", TYPE, "If-Match", etag);
  }

  private JsonNode patched(String patch) {
    Answer answer = patch(patch);
    assertThat(answer.status()).as(answer.response().body()).isEqualTo(200);
    assertThat(answer.header("ETag")).isEqualTo("\"" + answer.text("version") + "\"");
    assertThat(answer.json()).isEqualTo(running.get(path).json());
    return answer.json();
  }

  @Test
  void theResultOfAGetCanBeChangedAndSentBack() {
    put(WEBHOOK);
    Answer got = running.get(path);
    ObjectNode changed = (ObjectNode) got.json();
    changed.put("grace", "PT6M");
    Answer put = running.put(path, changed.toString(), "If-Match", got.header("ETag"));

    assertThat(put.status()).as(put.response().body()).isEqualTo(200);
    assertThat(put.json().get("target")).isEqualTo(got.json().get("target"));
    assertThat(put.text("grace")).isEqualTo("PT6M");
    assertThat(running.put(path, changed.toString()).header("ETag")).isEqualTo(put.header("ETag"));
  }

  @Test
  void changesOnlyTheGivenFields() {
    JsonNode before = put(WEBHOOK);
    JsonNode after =
        patched("{\"retry\":{\"maxAttempts\":4},\"headers\":{\"h\":null,\"i\":\"w\"}}");

    assertThat(after.at("/retry/maxAttempts").asInt()).isEqualTo(4);
    assertThat(after.at("/retry/maxBackoff").asString()).isEqualTo("PT1M");
    assertThat(after.get("headers").propertyNames()).containsExactly("i");
    for (String same : List.of("cron", "zone", "target", "payload", "missed", "grace")) {
      assertThat(after.get(same)).as(same).isEqualTo(before.get(same));
    }
    assertThat(after.get("version").asLong()).isGreaterThan(before.get("version").asLong());
  }

  @Test
  void keepsThePayloadUnchanged() {
    put(WEBHOOK);
    patched("{\"grace\":\"PT1H\"}");
    assertThat(running.get(path).response().body()).contains("{ \"a\":1.0, \"b\":{\"c\":[1]} }");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"b\":{\"d\":2e400}} | {\"a\":1.0,\"b\":{\"c\":[1],\"d\":2e400}}",
        "{\"c\":{\"d\":[ {} ],\"e\":null}} | {\"a\":1.0,\"b\":{\"c\":[1]},\"c\":{\"d\":[ {} ]}}",
        "{\"a\":null,\"b\":[]} | {\"b\":[]}",
        "[1,null] | [1,null]",
        "\"x\" | \"x\""
      })
  void mergesThePayload(String patch, String merged) {
    put(WEBHOOK);
    patched("{\"payload\":" + patch + "}");
    assertThat(running.get(path).response().body()).contains("\"payload\":" + merged);
  }

  /** A text in JSON may contain half of a pair, which UTF-8 cannot. */
  @Test
  void keepsLoneSurrogatesOfOtherFieldsOfThePayload() {
    put("{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"},\"payload\":{\"a\":\"b\\udc00\"}}");
    patched("{\"payload\":{\"é\":1}}");
    assertThat(running.get(path).response().body())
        .contains("\"payload\":{\"a\":\"b\\udc00\",\"é\":1}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[%s]", "{\"a\":[%s]}"})
  void aPayloadThatIsTooLargeIs413(String payload) {
    put(WEBHOOK);
    Answer answer = patch("{\"payload\":" + payload.formatted("{},".repeat(80_000) + "{}") + "}");
    assertThat(answer.status()).isEqualTo(413);
    assertThat(answer.text("field")).isEqualTo("payload");
  }

  @Test
  void nullRemovesThePayload() {
    put(WEBHOOK);
    assertThat(patched("{\"payload\":null}").has("payload")).isFalse();
  }

  @Test
  void anotherKindOfTimeReplacesThePresentOne() {
    put(WEBHOOK);
    JsonNode once = patched("{\"at\":\"2099-01-01T00:00:00Z\"}");
    assertThat(once.has("cron")).isFalse();
    assertThat(once.has("zone")).isFalse();
    assertThat(once.get("at").asString()).isEqualTo("2099-01-01T00:00:00Z");
    assertThat(patched("{\"every\":\"PT1H\"}").has("at")).isFalse();
    JsonNode cron = patched("{\"cron\":\"0 0 * * *\",\"zone\":\"Asia/Tokyo\"}");
    assertThat(cron.has("every")).isFalse();
    assertThat(patched("{\"cron\":\"1 0 * * *\"}").get("zone").asString()).isEqualTo("Asia/Tokyo");
    assertThat(patched("{\"after\":\"PT1H\"}").has("at")).isTrue();
  }

  @Test
  void anotherKindOfTargetReplacesThePresentOne() {
    put(WEBHOOK);
    assertThat(patched("{\"target\":{\"queue\":\"q\"}}").get("target").propertyNames())
        .containsExactly("queue");
    assertThat(
            patched("{\"target\":{\"url\":\"https://a.example/\",\"secret\":\"shop\"}}")
                .get("target")
                .propertyNames())
        .containsExactly("url", "secret");
    JsonNode target =
        patched("{\"target\":{\"url\":\"https://b.example/\",\"headers\":{\"X\":\"y\"}}}")
            .get("target");
    assertThat(target.get("url").asString()).isEqualTo("https://b.example/");
    assertThat(target.get("secret").asString()).isEqualTo("shop");
    assertThat(patched("{\"target\":{\"headers\":{\"X\":null}}}").get("target").has("headers"))
        .isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"at\":null} | 422 | at",
        "{\"at\":\"2099-01-01T00:00:00Z\",\"every\":\"PT1H\"} | 422 | at",
        "{\"target\":null} | 422 | target",
        "{\"target\":{\"queue\":\"a\",\"url\":\"http://a.example\"}} | 422 | target",
        "{\"zone\":\"Europe/Berlin\"} | 422 | zone",
        "{\"colour\":\"red\"} | 400 | colour",
        "{\"retry\":{\"maxAttempts\":0}} | 422 | retry.maxAttempts",
        "{\"retry\":7} | 400 | retry",
        "{\"at\":1,\"at\":2} | 400 | at"
      })
  void refusesAPatchWhoseResultIsNoTimer(String patch, int status, String field) {
    JsonNode before = put(ONCE);
    Answer answer = patch(patch);
    assertThat(answer.status()).as(answer.response().body()).isEqualTo(status);
    assertThat(answer.text("field")).isEqualTo(field);
    assertThat(running.get(path).json()).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[]", "null", "{", "{} {}"})
  void refusesADocumentThatIsNotAnObject(String patch) {
    put(ONCE);
    assertThat(patch(patch).status()).isEqualTo(400);
  }

  @Test
  void needsTheVersionThatItChanges() {
    put(ONCE);
    String etag = running.get(path).header("ETag");
    Answer without = running.send("PATCH", path, "{}", "Content-Type", TYPE);
    assertThat(without.status()).isEqualTo(412);
    assertThat(without.text("field")).isEqualTo("If-Match");
    patched("{\"payload\":2}");
    Answer stale =
        running.send("PATCH", path, "{\"payload\":3}", "Content-Type", TYPE, "If-Match", etag);
    assertThat(stale.status()).isEqualTo(412);
    assertThat(running.get(path).json().get("payload").asInt()).isEqualTo(2);
    Answer any =
        running.send("PATCH", path, "{\"payload\":4}", "Content-Type", TYPE, "If-Match", "*");
    assertThat(any.status()).isEqualTo(200);
  }

  @Test
  void changesNoAbsentOrFinishedTimer() {
    assertThat(running.send("PATCH", path, "{}", "Content-Type", TYPE, "If-Match", "*").status())
        .isEqualTo(404);
    put(ONCE);
    running.send("DELETE", path, null);
    assertThat(patch("{\"payload\":2}").status()).isEqualTo(412);
  }

  @Test
  void acceptsOnlyTheTypeOfAMergePatch() {
    put(ONCE);
    Answer answer =
        running.send("PATCH", path, "{}", "Content-Type", "application/json", "If-Match", "*");
    assertThat(answer.status()).isEqualTo(415);
    assertThat(answer.text("detail")).contains(TYPE);
    assertThat(running.put(path, ONCE, "Content-Type", TYPE).status()).isEqualTo(415);
  }

  @Test
  void keepsAPayloadThatIsNotJson() {
    String id = path.substring(path.lastIndexOf('/') + 1);
    byte[] payload = "\u0001not json".getBytes(StandardCharsets.UTF_8);
    running.scheduler.schedule(
        TimerSpec.of("shop", id).queue("q").payload(payload).after(Duration.ofDays(1)));
    patched("{\"target\":{\"queue\":\"r\"}}");
    assertThat(running.scheduler.timer("shop", id).get().orElseThrow().payload())
        .isEqualTo(payload);
  }

  @Test
  void leavesATimerOfAnApplicationToTheApplication() {
    String id = path.substring(path.lastIndexOf('/') + 1);
    running.scheduler.schedule(TimerSpec.of("shop", id).handler("mail").after(Duration.ofDays(1)));
    Answer answer = patch("{\"payload\":1}");
    assertThat(answer.status()).isEqualTo(422);
    assertThat(answer.text("field")).isEqualTo("target");
    assertThat(patched("{\"target\":{\"queue\":\"q\"}}").at("/target/queue").asString())
        .isEqualTo("q");
  }
}
