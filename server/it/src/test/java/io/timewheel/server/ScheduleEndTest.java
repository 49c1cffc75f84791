// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Running.Answer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Tests the fields until and times of timers and of previews. */
class ScheduleEndTest {
  private static final String TIMERS = "/v1/namespaces/shop/timers";
  private static final String PREVIEW = "/v1/schedules:preview";
  private static final String TARGET = "\"target\":{\"queue\":\"%s\"}";

  private static Running running;

  @BeforeAll
  static void start() {
    running = new Running();
  }

  @AfterAll
  static void stop() {
    running.close();
  }

  private static String body(String schedule, String queue) {
    return ("{" + schedule + "," + TARGET.formatted(queue) + "}").replace('\'', '"');
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
  void aBatchSetsItAndAPatchChangesOrRemovesIt() {
    Instant soon = Instant.now().plus(90, ChronoUnit.MINUTES).truncatedTo(ChronoUnit.MILLIS);
    String item = body("'id':'patched','every':'PT1H','until':'" + soon + "','times':5", "q");
    running.post(TIMERS + ":batch", "{\"timers\":[" + item + "]}");
    assertThat(running.get(TIMERS + "/patched").json().get("next")).hasSize(1);
    JsonNode listed = running.get(TIMERS + "?prefix=patched").json().at("/timers/0");
    assertThat(listed.get("until").asString()).isEqualTo(soon.toString());
    assertThat(patch("{\"until\":null}").json().get("next")).hasSize(5);
    Answer once = patch("{\"at\":\"2099-01-01T00:00:00Z\"}");
    assertThat(once.status()).isEqualTo(200);
    assertThat(once.json().has("times")).isFalse();
  }

  private static Answer patch(String patch) {
    return running.send(
        "PATCH",
        TIMERS + "/patched",
        patch,
        "Content-Type",
        "application/merge-patch+json",
        "If-Match",
        "*");
  }

  @Test
  void aPreviewEndsWithTheSchedule() {
    assertThat(running.post(PREVIEW, "{\"every\":\"PT1H\",\"times\":3}").json().get("next"))
        .hasSize(3);
    String over = "{\"cron\":\"@daily\",\"until\":\"2020-01-01T00:00:00Z\"}";
    assertThat(running.post(PREVIEW, over).json().get("next")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'after':'PT1H','times':2 | times | times: only allowed with every or cron",
        "'at':'2099-01-01T00:00:00Z','until':'2099-01-01T00:00:00Z' | until | until: only allowed",
        "'every':'PT1H','times':0 | times | times: 0 (minimum: 1)",
        "'cron':'@daily','times':-1 | times | times: -1 (minimum: 1)"
      })
  void refusesAnEndThatIsOutOfRange(String schedule, String field, String detail) {
    for (Answer answer :
        new Answer[] {
          running.put(TIMERS + "/refused", body(schedule, "q")),
          running.post(PREVIEW, "{" + schedule.replace('\'', '"') + "}")
        }) {
      assertThat(answer.status()).isEqualTo(422);
      assertThat(answer.text("field")).isEqualTo(field);
      assertThat(answer.text("detail")).startsWith(detail);
    }
  }
}
