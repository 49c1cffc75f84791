// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Running.Answer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Tests the fields jitter, until and times of timers and of previews. */
class RecurrenceTest {
  private static final String TIMERS = "/v1/namespaces/shop/timers";
  private static final String PREVIEW = "/v1/schedules:preview";
  private static final String TARGET = "\"target\":{\"queue\":\"q\"}";
  private static final String HOURLY =
      "{\"cron\":\"0 * * * *\",\"jitter\":\"PT50M\"," + TARGET + "}";

  private static Running running;

  @BeforeAll
  static void start() {
    running = new Running();
  }

  @AfterAll
  static void stop() {
    running.close();
  }

  private static List<Instant> next(Answer answer) {
    assertThat(answer.status()).as(answer.response().body()).isIn(200, 201);
    List<Instant> next = new ArrayList<>();
    answer.json().get("next").forEach(run -> next.add(Instant.parse(run.asString())));
    return next;
  }

  private static long pastTheHour(Instant run) {
    return run.toEpochMilli() % Duration.ofHours(1).toMillis();
  }

  @Test
  void allRunsAreLaterByOneOffsetWhichAnotherTimerDoesNotShare() {
    List<Instant> a = next(running.put(TIMERS + "/a", HOURLY));
    List<Instant> b = next(running.put(TIMERS + "/b", HOURLY));

    assertThat(a.stream().map(RecurrenceTest::pastTheHour).distinct()).hasSize(1);
    assertThat(b.stream().map(RecurrenceTest::pastTheHour).distinct()).hasSize(1);
    assertThat(pastTheHour(a.get(0)))
        .isBetween(0L, Duration.ofMinutes(50).toMillis() - 1)
        .isNotEqualTo(pastTheHour(b.get(0)));
  }

  @Test
  void aTimerReturnsItsJitterAndTheSameAgainIsUnchanged() {
    Answer put = running.put(TIMERS + "/same", HOURLY);
    assertThat(put.status()).isEqualTo(201);
    assertThat(put.text("jitter")).isEqualTo("PT50M");
    assertThat(put.text("cron")).isEqualTo("0 * * * *");
    assertThat(put.text("zone")).isEqualTo("UTC");

    for (String again : List.of(HOURLY, HOURLY.replace("PT50M", "PT3000S"))) {
      Answer same = running.put(TIMERS + "/same", again);
      assertThat(same.status()).isEqualTo(200);
      assertThat(same.header("ETag")).isEqualTo(put.header("ETag"));
    }
    ObjectNode got = (ObjectNode) running.get(TIMERS + "/same").json();
    assertThat(running.put(TIMERS + "/same", got.toString()).header("ETag"))
        .isEqualTo(put.header("ETag"));
    Answer other = running.put(TIMERS + "/same", HOURLY.replace("PT50M", "PT51M"));
    assertThat(other.header("ETag")).isNotEqualTo(put.header("ETag"));
  }

  @Test
  void aListReturnsTheJitterToo() {
    running.put(TIMERS + "/listed", HOURLY);
    JsonNode timer = running.get(TIMERS + "?prefix=listed").json().at("/timers/0");
    assertThat(timer.get("jitter").asString()).isEqualTo("PT50M");
    assertThat(timer.get("cron").asString()).isEqualTo("0 * * * *");
  }

  @Test
  void aBatchSetsItAndRefusesOneThatIsTooLong() {
    JsonNode results =
        running
            .post(
                TIMERS + ":batch",
                "{\"timers\":[{\"id\":\"c\",\"every\":\"PT1H\",\"jitter\":\"PT1H\","
                    + TARGET
                    + "},{\"id\":\"d\",\"every\":\"PT1H\",\"jitter\":\"PT61M\","
                    + TARGET
                    + "}]}")
            .json()
            .get("results");

    assertThat(results.at("/0/status").asInt()).isEqualTo(201);
    assertThat(running.get(TIMERS + "/c").text("jitter")).isEqualTo("PT1H");
    assertThat(results.at("/1/status").asInt()).isEqualTo(422);
    assertThat(results.at("/1/error/detail").asString())
        .isEqualTo("jitter: PT1H1M is too long (maximum: PT1H, the period)");
  }

  private static Answer patch(String id, String patch) {
    return running.send(
        "PATCH",
        TIMERS + "/" + id,
        patch,
        "Content-Type",
        "application/merge-patch+json",
        "If-Match",
        "*");
  }

  @Test
  void aPatchChangesOrRemovesItAndAnotherKindOfTimeRemovesItToo() {
    running.put(TIMERS + "/patched", HOURLY);
    assertThat(patch("patched", "{\"payload\":1}").text("jitter")).isEqualTo("PT50M");
    assertThat(patch("patched", "{\"jitter\":\"PT1M\"}").text("jitter")).isEqualTo("PT1M");
    assertThat(patch("patched", "{\"every\":\"PT1H\"}").text("jitter")).isEqualTo("PT1M");
    Answer tooLong = patch("patched", "{\"every\":\"PT30S\"}");
    assertThat(tooLong.status()).isEqualTo(422);
    assertThat(tooLong.text("field")).isEqualTo("jitter");
    Answer once = patch("patched", "{\"at\":\"2099-01-01T00:00:00Z\"}");
    assertThat(once.status()).isEqualTo(200);
    assertThat(once.json().has("jitter")).isFalse();

    Answer removed = patch("patched", "{\"cron\":\"0 * * * *\",\"jitter\":null}");
    assertThat(removed.json().has("jitter")).isFalse();
    assertThat(next(removed)).allSatisfy(run -> assertThat(pastTheHour(run)).isZero());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'after':'PT1H','jitter':'PT1M' | 422 | jitter: only allowed with every or cron",
        "{'at':'2099-01-01T00:00:00Z','jitter':'PT1M' | 422 | jitter: only allowed with every or"
            + " cron",
        "{'every':'PT1H','jitter':'PT0S' | 422 | jitter: PT0S; expected more than zero",
        "{'every':'PT1H','jitter':'PT-1S' | 422 | jitter: PT-1S; expected more than zero",
        "{'every':'PT48H','jitter':'PT25H' | 422 | jitter: PT25H is too long (maximum: PT24H)",
        "{'cron':'@daily','jitter':'PT25H' | 422 | jitter: PT25H is too long (maximum: PT24H)",
        "{'cron':'@daily','jitter':'5m' | 422 | jitter: 5m",
        "{'after':'PT1H','times':2 | 422 | times: only allowed with every or cron",
        "{'at':'2099-01-01T00:00:00Z','until':'2099-01-01T00:00:00Z' | 422 | until: only allowed",
        "{'every':'PT1H','times':0 | 422 | times: 0 (minimum: 1)",
        "{'cron':'@daily','times':-1 | 422 | times: -1 (minimum: 1)"
      })
  void refusesAFieldThatIsOutOfRange(String schedule, int status, String detail) {
    String body = (schedule + "," + TARGET + "}").replace('\'', '"');
    Answer answer = running.put(TIMERS + "/refused", body);
    assertThat(answer.status()).isEqualTo(status);
    assertThat(answer.text("field")).isEqualTo(detail.split(":", 2)[0]);
    assertThat(answer.text("detail")).startsWith(detail);
    assertThat(running.get(TIMERS + "/refused").status()).isEqualTo(404);
    String named = schedule + ",'namespace':'shop','id':'refused'}";
    Answer preview = running.post(PREVIEW, named.replace('\'', '"'));
    assertThat(preview.status()).isEqualTo(status);
    assertThat(preview.text("detail")).startsWith(detail);
  }

  @Test
  void aPreviewShowsTheRunsOfTheTimerOfThatName() {
    List<Instant> stored = next(running.put(TIMERS + "/previewed", HOURLY));
    String schedule =
        "{\"cron\":\"0 * * * *\",\"jitter\":\"PT50M\",\"namespace\":\"shop\",\"id\":\"%s\"}";
    List<Instant> shown = next(running.post(PREVIEW, schedule.formatted("previewed")));
    assertThat(pastTheHour(shown.get(0))).isEqualTo(pastTheHour(stored.get(0)));
    assertThat(pastTheHour(next(running.post(PREVIEW, schedule.formatted("another"))).get(0)))
        .isNotEqualTo(pastTheHour(stored.get(0)));
  }

  @Test
  void aPreviewWithAJitterNeedsTheNameOfTheTimer() {
    String schedule = "{\"every\":\"PT1H\",\"jitter\":\"PT1M\"%s}";
    assertThat(running.post(PREVIEW, schedule.formatted("")).text("field")).isEqualTo("namespace");
    Answer without = running.post(PREVIEW, schedule.formatted(",\"namespace\":\"shop\""));
    assertThat(without.status()).isEqualTo(422);
    assertThat(without.text("detail"))
        .isEqualTo("id: is missing (expected: that of the timer, for the offset of its jitter)");
    assertThat(
            running
                .post(PREVIEW, "{\"every\":\"PT1H\",\"namespace\":\"shop\",\"id\":\"..\"}")
                .status())
        .isEqualTo(400);
  }

  private static String body(String schedule, String queue) {
    return ("{" + schedule + ",'target':{'queue':'" + queue + "'}}").replace('\'', '"');
  }

  private static JsonNode claim(String queue) {
    return running
        .post("/v1/namespaces/shop/queues/" + queue + "/firings:claim", "{\"wait\":\"PT20S\"}")
        .json()
        .at("/firings/0");
  }

  @Test
  void aTimerCompletesAfterItsRunsAndTheSameAgainDoesNotRepeatThem() {
    String twice = body("'every':'PT0.1S','times':2,'retry':{'maxAttempts':1}", "twice");
    Answer put = running.put(TIMERS + "/twice", twice);
    assertThat(put.status()).isEqualTo(201);
    assertThat(put.json().get("times").asInt()).isEqualTo(2);
    assertThat(put.json().get("next")).hasSize(2);
    for (String end : new String[] {"ack", "nack"}) {
      JsonNode firing = claim("twice");
      Answer ended =
          running.post(
              "/v1/namespaces/shop/firings/" + firing.get("fireId").asString() + ":" + end,
              "{\"leaseToken\":\"" + firing.get("leaseToken").asString() + "\"}");
      assertThat(ended.status()).isEqualTo(200);
    }
    Answer same = running.put(TIMERS + "/twice", twice);
    assertThat(same.status()).isEqualTo(200);
    assertThat(same.text("state")).isEqualTo("completed");
    assertThat(same.header("ETag")).isEqualTo(put.header("ETag"));
    assertThat(running.put(TIMERS + "/twice", twice.replace(":2", ":3")).status()).isEqualTo(201);
  }

  @Test
  void aTimerWithNothingLeftIsCompletedAtOnce() {
    String over = body("'cron':'@daily','until':'2020-01-01T00:00:00Z'", "q");
    Answer put = running.put(TIMERS + "/over", over);
    assertThat(put.status()).isEqualTo(201);
    assertThat(put.text("state")).isEqualTo("completed");
    assertThat(put.text("until")).isEqualTo("2020-01-01T00:00:00Z");
    assertThat(put.text("dueAt")).startsWith("20");
    assertThat(put.json().get("next")).isEmpty();
    Answer again = running.put(TIMERS + "/over", running.get(TIMERS + "/over").json().toString());
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.header("ETag")).isEqualTo(put.header("ETag"));
  }

  @Test
  void aBatchSetsAnEndAndAPatchChangesOrRemovesIt() {
    Instant soon = Instant.now().plus(90, ChronoUnit.MINUTES).truncatedTo(ChronoUnit.MILLIS);
    String item = body("'id':'ending','every':'PT1H','until':'" + soon + "','times':5", "q");
    running.post(TIMERS + ":batch", "{\"timers\":[" + item + "]}");
    assertThat(running.get(TIMERS + "/ending").json().get("next")).hasSize(1);
    JsonNode listed = running.get(TIMERS + "?prefix=ending").json().at("/timers/0");
    assertThat(listed.get("until").asString()).isEqualTo(soon.toString());
    assertThat(patch("ending", "{\"until\":null}").json().get("next")).hasSize(5);
    Answer once = patch("ending", "{\"at\":\"2099-01-01T00:00:00Z\"}");
    assertThat(once.status()).isEqualTo(200);
    assertThat(once.json().has("times")).isFalse();
  }

  @Test
  void aPreviewEndsWithTheSchedule() {
    assertThat(running.post(PREVIEW, "{\"every\":\"PT1H\",\"times\":3}").json().get("next"))
        .hasSize(3);
    String over = "{\"cron\":\"@daily\",\"until\":\"2020-01-01T00:00:00Z\"}";
    assertThat(running.post(PREVIEW, over).json().get("next")).isEmpty();
  }
}
