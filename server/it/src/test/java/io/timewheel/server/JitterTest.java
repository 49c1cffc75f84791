// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Running.Answer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Tests the field jitter of timers and of previews. */
class JitterTest {
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

    assertThat(a.stream().map(JitterTest::pastTheHour).distinct()).hasSize(1);
    assertThat(b.stream().map(JitterTest::pastTheHour).distinct()).hasSize(1);
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
        "{'cron':'@daily','jitter':'5m' | 422 | jitter: 5m"
      })
  void refusesAJitterThatIsOutOfRange(String schedule, int status, String detail) {
    String body = (schedule + "," + TARGET + "}").replace('\'', '"');
    Answer answer = running.put(TIMERS + "/refused", body);
    assertThat(answer.status()).isEqualTo(status);
    assertThat(answer.text("field")).isEqualTo("jitter");
    assertThat(answer.text("detail")).startsWith(detail);
    assertThat(running.get(TIMERS + "/refused").status()).isEqualTo(404);
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
}
