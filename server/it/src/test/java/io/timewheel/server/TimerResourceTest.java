// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Running.Answer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests one timer over HTTP. */
class TimerResourceTest {
  private static final String AT = "{\"at\":\"2099-01-01T00:00:00Z\",\"target\":{\"queue\":\"q\"}}";
  private static final String AFTER = "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}";

  private static Running running;

  @BeforeAll
  static void start() {
    running = new Running();
  }

  @AfterAll
  static void stop() {
    running.close();
  }

  private static String path(String id) {
    return "/v1/namespaces/shop/timers/" + id;
  }

  @Test
  void putCreatesAndAnswersAsGetDoes() {
    Answer put =
        running.put(
            path("whole"),
            """
            {"cron":"0 9 * * MON-FRI","zone":"Europe/Berlin","target":{"queue":"orders"},
             "payload":{"any": [1, "ü"]},"retry":{"maxAttempts":7,"backoff":"PT2S"},
             "missed":"skip","grace":"PT5M","headers":{"a":"b"}}
            """);
    assertThat(put.status()).isEqualTo(201);
    assertThat(put.header("ETag")).isEqualTo("\"" + put.json().get("version").asLong() + "\"");
    assertThat(put.header("Content-Type")).isEqualTo("application/json");
    Answer get = running.get(path("whole"));
    assertThat(get.status()).isEqualTo(200);
    assertThat(get.json()).isEqualTo(put.json());
    assertThat(get.header("ETag")).isEqualTo(put.header("ETag"));
    assertThat(get.text("namespace")).isEqualTo("shop");
    assertThat(get.text("id")).isEqualTo("whole");
    assertThat(get.text("state")).isEqualTo("scheduled");
    assertThat(get.text("cron")).isEqualTo("0 9 * * MON-FRI");
    assertThat(get.text("zone")).isEqualTo("Europe/Berlin");
    assertThat(get.json().at("/target/queue").asString()).isEqualTo("orders");
    assertThat(get.json().at("/payload/any/1").asString()).isEqualTo("ü");
    assertThat(get.json().at("/retry/maxAttempts").asInt()).isEqualTo(7);
    assertThat(get.json().at("/retry/maxBackoff").asString()).isEqualTo("PT1M");
    assertThat(get.text("missed")).isEqualTo("skip");
    assertThat(get.text("grace")).isEqualTo("PT5M");
    assertThat(get.json().at("/headers/a").asString()).isEqualTo("b");
    assertThat(get.json().get("next")).hasSize(5);
    assertThat(get.json().at("/next/0").asString()).isEqualTo(get.text("dueAt"));
    assertThat(get.json().get("attempts")).isEmpty();
    assertThat(get.json().get("attempt").asInt()).isZero();
    assertThat(Instant.parse(get.text("createdAt"))).isNotNull();
  }

  @Test
  void aTimerThatFiresOnceMayHaveTheFieldsOfRecurringOnes() {
    String body =
        AFTER.replace("}}", "},\"missed\":\"fire_once\",\"grace\":\"PT5M\",\"headers\":{}}");
    Answer made = running.put(path("once"), body);
    assertThat(made.status()).isEqualTo(201);
    assertThat(made.text("missed")).isEqualTo("fire_once");
    assertThat(made.text("grace")).isEqualTo("PT5M");
  }

  @Test
  void aReturnedTimerMayBeSentBack() {
    Answer first = running.put(path("back"), AT);
    Answer again = running.put(path("back"), first.response().body());
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.json()).isEqualTo(first.json());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"at\":\"2099-01-01T00:00:00Z\"",
        "\"every\":\"PT1H\"",
        "\"cron\":\"0 9 * * *\",\"zone\":\"Europe/Berlin\""
      })
  void theSameTimerAgainIsUnchanged(String time) {
    String body = "{" + time + ",\"target\":{\"queue\":\"q\"}}";
    Answer first = running.put(path("same"), body);
    Answer again = running.put(path("same"), body);
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.header("ETag")).isEqualTo(first.header("ETag"));
    assertThat(again.json()).isEqualTo(first.json());
    running.send("DELETE", path("same"), null);
    Answer finished = running.put(path("same"), body);
    assertThat(finished.status()).isEqualTo(200);
    assertThat(finished.text("state")).isEqualTo("cancelled");
    assertThat(finished.header("ETag")).isEqualTo(first.header("ETag"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"every\":\"PT0.1S\"",
        "\"after\":\"PT1H\",\"retry\":{\"maxAttempts\":1}",
        "\"after\":\"PT1H\",\"retry\":{\"maxAttempts\":1000}",
        "\"after\":\"PT1H\",\"retry\":{\"backoff\":\"PT0.01S\"}"
      })
  void aTimerAtItsLimitsIsAccepted(String fields) {
    String body = "{" + fields + ",\"target\":{\"queue\":\"limits\"}}";
    Answer made = running.put(path("limits"), body);
    assertThat(made.status()).as(made.response().body()).isIn(200, 201);
    running.send("DELETE", path("limits"), null);
  }

  @Test
  void anInstantIsRoundedUpToMilliseconds() {
    Answer made = running.put(path("rounded"), AT.replace("00Z", "00.0001Z"));
    assertThat(made.text("at")).isEqualTo("2099-01-01T00:00:00.001Z");
    assertThat(made.text("dueAt")).isEqualTo("2099-01-01T00:00:00.001Z");
  }

  @Test
  void afterCountsFromArrivalSoThatRepeatingItMovesTheTimer() {
    Answer first = running.put(path("after"), AFTER);
    Answer again = running.put(path("after"), AFTER);
    assertThat(first.status()).isEqualTo(201);
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.header("ETag")).isNotEqualTo(first.header("ETag"));
    assertThat(again.text("at")).isEqualTo(again.text("dueAt"));
    assertThat(again.json().has("after")).isFalse();
  }

  @Test
  void anIdempotencyKeyMakesARetryAnswerAsTheFirst() {
    Answer first = running.put(path("key"), AFTER, "Idempotency-Key", "k1");
    Answer retry = running.put(path("key"), AFTER, "Idempotency-Key", "k1");
    assertThat(retry.status()).isEqualTo(201);
    assertThat(retry.json()).isEqualTo(first.json());
    assertThat(retry.header("ETag")).isEqualTo(first.header("ETag"));
  }

  @Test
  void thePastFiresAtOnce() {
    Answer past =
        running.put(
            path("past"), "{\"at\":\"1999-01-01T00:00:00Z\",\"target\":{\"queue\":\"past\"}}");
    assertThat(past.status()).isEqualTo(201);
    assertThat(past.text("dueAt")).isEqualTo("1999-01-01T00:00:00Z");
    var claim =
        running
            .scheduler
            .async()
            .queue("shop", "past")
            .claim(1, Duration.ofSeconds(30), Duration.ofSeconds(60));
    assertThat(claim.toCompletableFuture().join()).hasSize(1);
  }

  @Test
  void ifNoneMatchCreatesOnly() {
    assertThat(running.put(path("inm"), AT, "If-None-Match", "*").status()).isEqualTo(201);
    assertThat(running.put(path("inm"), AT, "If-None-Match", "*").status()).isEqualTo(412);
    assertThat(running.send("DELETE", path("inm"), null).text("outcome")).isEqualTo("cancelled");
    // The timer is finished, and retained.
    assertThat(running.put(path("inm"), AT, "If-None-Match", "*").status()).isEqualTo(412);
    assertThat(running.put(path("inm"), AT).status()).isEqualTo(200);
    assertThat(running.put(path("inm"), AFTER).status()).isEqualTo(201);
  }

  @Test
  void ifMatchComparesTheVersion() {
    String tag = running.put(path("im"), AT).header("ETag");
    assertThat(running.put(path("im"), AFTER, "If-Match", "\"1\"").status()).isEqualTo(412);
    assertThat(running.put(path("im"), AFTER, "If-Match", "W/" + tag).status()).isEqualTo(412);
    assertThat(running.put(path("im"), AFTER, "If-Match", "\"x\"").status()).isEqualTo(412);
    assertThat(running.put(path("im"), AFTER, "If-Match", "x").status()).isEqualTo(400);
    Answer moved = running.put(path("im"), AFTER, "If-Match", "\"1\", " + tag);
    assertThat(moved.status()).isEqualTo(200);
    assertThat(running.put(path("im"), AFTER, "If-Match", tag).status()).isEqualTo(412);
    assertThat(running.put(path("im"), AFTER, "If-Match", "*").status()).isEqualTo(200);
    assertThat(running.put(path("no"), AFTER, "If-Match", "*").status()).isEqualTo(412);
    assertThat(running.send("DELETE", path("im"), null, "If-Match", tag).status()).isEqualTo(412);
    String last = running.get(path("im")).header("ETag");
    assertThat(running.send("DELETE", path("im"), null, "If-Match", last).status()).isEqualTo(200);
  }

  @Test
  void deleteAnswersHowItEnded() {
    Answer none = running.send("DELETE", path("never"), null);
    assertThat(none.status()).isEqualTo(404);
    assertThat(none.text("outcome")).isEqualTo("not_found");
    assertThat(none.header("Content-Type")).isEqualTo("application/problem+json");
    running.put(path("gone"), AT);
    assertThat(running.send("DELETE", path("gone"), null).text("outcome")).isEqualTo("cancelled");
    assertThat(running.send("DELETE", path("gone"), null).text("outcome")).isEqualTo("cancelled");
    assertThat(running.get(path("gone")).text("state")).isEqualTo("cancelled");
  }

  @Test
  void anAbsentTimerIs404ForAnyExpectedVersion() {
    for (String tag : List.of("*", "\"5\"")) {
      Answer none = running.send("DELETE", path("never"), null, "If-Match", tag);
      assertThat(none.status()).isEqualTo(404);
      Answer verb = running.post(path("never") + ":pause", null, "If-Match", tag);
      assertThat(verb.status()).isEqualTo(404);
      assertThat(running.put(path("never"), AT, "If-Match", tag).status()).isEqualTo(412);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"2099-01-01T09:00Z", "2099-01-01T10:00:00+01:00", "2099-01-01T09:00:00Z"})
  void anInstantIsWrittenAsIso8601Has(String at) {
    Answer made = running.put(path("iso"), AT.replaceAll("2\\d{3}-[^\"]*", at));
    assertThat(made.text("at")).isEqualTo("2099-01-01T09:00:00Z");
  }

  @ParameterizedTest
  @ValueSource(strings = {"1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"})
  void theFirstAndTheLastInstantAreAccepted(String at) {
    Answer made = running.put(path("bound"), AT.replaceAll("2\\d{3}-[^\"]*", at));
    assertThat(made.text("at")).isEqualTo(at);
  }

  @ParameterizedTest
  @CsvSource({
    "-PT1S, after",
    "P3000000D, after",
    "1969-12-31T23:59:59Z, at",
    "+10000-01-01T00:00:00Z, at"
  })
  void aTimerIsMovedOnlyWithinTheAcceptedTimes(String to, String field) {
    running.put(path("moved"), AT);
    Answer moved = running.post(path("moved:move"), "{\"" + field + "\":\"" + to + "\"}");
    assertThat(moved.status()).isEqualTo(422);
    assertThat(moved.text("field")).isEqualTo(field);
    assertThat(running.get(path("moved")).text("at")).isEqualTo("2099-01-01T00:00:00Z");
  }

  @Test
  void nextRunsEndWithTheYear9999() {
    Answer made =
        running.put(path("rare"), "{\"every\":\"P1095000D\",\"target\":{\"queue\":\"q\"}}");
    assertThat(made.status()).isEqualTo(201);
    assertThat(made.json().get("next")).hasSize(2);
  }

  @Test
  void getOfNothingIsAProblem() {
    Answer answer = running.get(path("nothing"));
    assertThat(answer.status()).isEqualTo(404);
    assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
    assertThat(answer.json().get("status").asInt()).isEqualTo(404);
    assertThat(answer.text("type")).isEqualTo("urn:timewheel:problem:not_found");
    assertThat(answer.text("title")).isEqualTo("Not Found");
    assertThat(answer.text("detail")).isNotEmpty();
  }

  @ParameterizedTest
  @CsvSource({"a%2Fb, a/b", "a%3Ab, a:b", "a:b, a:b", "x%3Arun, x:run", "%C3%BC%20+, ü +"})
  void encodedSlashAndColonBelongToTheId(String encoded, String id) {
    assertThat(running.put(path(encoded), AFTER).status()).isEqualTo(201);
    assertThat(running.scheduler.timer("shop", id).get()).isPresent();
    assertThat(running.get(path(encoded)).text("id")).isEqualTo(id);
    running.scheduler.timer("shop", id).cancel();
  }

  @ParameterizedTest
  @CsvSource({"%2E", "%2e%2E", "%00", "a%0Ab", "%FF", "%", "%zz", "%C0%AF", "%ED%A0%80", "''"})
  void malformedNamesAreRefused(String encoded) {
    String answer =
        running.raw(
            "PUT "
                + path(encoded)
                + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Connection: close\r\nContent-Length: "
                + AT.length()
                + "\r\n\r\n"
                + AT);
    assertThat(answer).startsWith("HTTP/1.1 400 ").contains("application/problem+json");
  }

  @ParameterizedTest
  @CsvSource({"256, 201", "257, 400"})
  void anIdHas256BytesAtMost(int length, int status) {
    assertThat(running.put(path("i".repeat(length)), AT).status()).isEqualTo(status);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"at\":\"2099-01-01T00:00:00Z\",\"after\":\"PT1S\",\"target\":{\"queue\":\"q\"}} | 422 |"
            + " at",
        "{\"target\":{\"queue\":\"q\"}} | 422 | at",
        "{\"after\":\"PT1S\"} | 422 | target",
        "{\"after\":\"PT1S\",\"target\":{}} | 422 | target",
        "{\"after\":\"PT1S\",\"target\":{\"queue\":\"q\",\"url\":\"http://x\"}} | 422 | target",
        "{\"after\":\"-PT0.001S\",\"target\":{\"queue\":\"q\"}} | 422 | after",
        "{\"after\":\"P3000000D\",\"target\":{\"queue\":\"q\"}} | 422 | after",
        "{\"after\":\"PT2562047788015215H\",\"target\":{\"queue\":\"q\"}} | 422 | after",
        "{\"every\":\"P3000000D\",\"target\":{\"queue\":\"q\"}} | 422 | every",
        "{\"at\":\"1969-12-31T23:59:59.999Z\",\"target\":{\"queue\":\"q\"}} | 422 | at",
        "{\"at\":\"+10000-01-01T00:00:00Z\",\"target\":{\"queue\":\"q\"}} | 422 | at",
        "{\"at\":\"9999-12-31T23:00:00-01:00\",\"target\":{\"queue\":\"q\"}} | 422 | at",
        "{\"after\":\"1 hour\",\"target\":{\"queue\":\"q\"}} | 422 | after",
        "{\"at\":\"tomorrow\",\"target\":{\"queue\":\"q\"}} | 422 | at",
        "{\"every\":\"PT0.09S\",\"target\":{\"queue\":\"q\"}} | 422 | every",
        "{\"cron\":\"61 * * * *\",\"target\":{\"queue\":\"q\"}} | 422 | cron",
        "{\"cron\":\"* * * * *\",\"zone\":\"Mars/X\",\"target\":{\"queue\":\"q\"}} | 422 | zone",
        "{\"after\":\"PT1S\",\"target\":{\"queue\":\"q\"},\"retry\":{\"maxAttempts\":0}} | 422 |"
            + " retry.maxAttempts",
        "{\"after\":\"PT1S\",\"target\":{\"queue\":\"q\"},\"retry\":{\"maxAttempts\":1001}} | 422 |"
            + " retry.maxAttempts",
        "{\"after\":\"PT1S\",\"target\":{\"queue\":\"q\"},\"retry\":{\"backoff\":\"PT0.009S\"}} |"
            + " 422 | retry.backoff",
        "{\"after\":\"PT1S\",\"target\":{\"queue\":\"q\"},\"retry\":{\"tries\":1}} | 400 |"
            + " retry.tries",
        "{\"after\":\"PT1S\",\"target\":{\"queue\":\"q\"},\"missed\":\"maybe\"} | 422 | missed",
        "{\"after\":\"PT1S\",\"target\":{\"queue\":\"q\"},\"grace\":\"-PT1S\"} | 422 | grace",
        "{\"after\":\"PT1S\",\"target\":{\"queue\":\"q\"},\"color\":1} | 400 | color",
        "{\"after\":5,\"target\":{\"queue\":\"q\"}} | 400 | after",
        "{\"after\":\"PT1S\",\"after\":\"PT1S\",\"target\":{\"queue\":\"q\"}} | 400 | after",
        "{\"after\":\"PT1S\",\"target\":{\"queue\":\"..\"}} | 400 | target.queue",
        "{\"after\":\"PT1S\",\"target\":{\"queue\":\"q\"},\"ifMatch\":\"*\"} | 400 | ifMatch",
        "{\"after\":\"PT1S\",\"target\":{\"queue\":\"q\"},\"headers\":{\":url\":\"x\"}} | 422 |"
            + " headers",
      })
  void theErrorIsNamed(String body, int status, String field) {
    Answer answer = running.put(path("wrong"), body);
    assertThat(answer.status()).as(answer.response().body()).isEqualTo(status);
    assertThat(answer.text("field")).isEqualTo(field);
  }
}
