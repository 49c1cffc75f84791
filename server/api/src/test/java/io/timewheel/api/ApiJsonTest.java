// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.json.JsonMapper;

class ApiJsonTest {
  private static final Instant NOON = Instant.parse("2026-12-01T12:00:00Z");
  private static final JsonMapper CLIENT =
      ApiJson.builder(new JsonFactory())
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  private static final TimerAnswer TIMER =
      new TimerAnswer(
          "shop",
          "a",
          3,
          "scheduled",
          NOON,
          null,
          0,
          NOON,
          NOON,
          null,
          null,
          "0 12 * * *",
          "UTC",
          null,
          null,
          null,
          null,
          null,
          null,
          new TimerAnswer.Target(
              null,
              "https://shop.example/",
              "shop",
              "PT10S",
              Collections.singletonMap("Authorization", null),
              null),
          new Retry(5, Duration.ofSeconds(1), Duration.ofMinutes(1)),
          "fire_once",
          Duration.ofMinutes(5),
          Map.of(),
          new RawJson("{\"x\":1}"),
          null,
          List.of(NOON),
          List.of());

  @Test
  void writesFieldsInOrderAndOmitsAbsentOnes() {
    assertThat(CLIENT.writeValueAsString(TIMER))
        .isEqualTo(
            "{\"namespace\":\"shop\",\"id\":\"a\",\"version\":3,\"state\":\"scheduled\","
                + "\"dueAt\":\"2026-12-01T12:00:00Z\",\"attempt\":0,"
                + "\"createdAt\":\"2026-12-01T12:00:00Z\",\"changedAt\":\"2026-12-01T12:00:00Z\",\"cron\":\"0"
                + " 12 * * *\",\"zone\":\"UTC\","
                + "\"target\":{\"url\":\"https://shop.example/\",\"secret\":\"shop\","
                + "\"timeout\":\"PT10S\",\"headers\":{\"Authorization\":null}},"
                + "\"retry\":{\"maxAttempts\":5,\"backoff\":\"PT1S\",\"maxBackoff\":\"PT1M\"},"
                + "\"missed\":\"fire_once\",\"grace\":\"PT5M\",\"headers\":{},\"payload\":{\"x\":1},"
                + "\"next\":[\"2026-12-01T12:00:00Z\"],\"attempts\":[]}");
  }

  @Test
  void aClientReadsTheJsonOfTheServer() {
    String json =
        CLIENT.writeValueAsString(TIMER).replace("{\"namespace\"", "{\"new\":1,\"namespace\"");

    assertThat(CLIENT.readValue(json, TimerAnswer.class)).isEqualTo(TIMER);
  }

  @Test
  void aRawValueKeepsItsTextIfTheReaderHasTheDocument() {
    String json = "{\"payload\":[ 1.50 ]}";

    TimerRequest timer =
        CLIENT.readerFor(TimerRequest.class).withAttribute(ApiJson.DOCUMENT, json).readValue(json);

    assertThat(timer.payload()).isEqualTo(new RawJson("[ 1.50 ]"));
  }

  @Test
  void convertsNoValueToAnotherType() {
    for (String json : List.of("{\"zone\":1}", "{\"target\":\"\"}", "{\"after\":5}")) {
      assertThatThrownBy(() -> CLIENT.readValue(json, TimerRequest.class))
          .isInstanceOf(MismatchedInputException.class);
    }
  }

  @Test
  void furtherMembersOfAProblemAreKept() {
    String json =
        "{\"type\":\"t\",\"title\":\"Not Found\",\"status\":404,\"outcome\":\"not_found\"}";

    ProblemDetails problem = CLIENT.readValue(json, ProblemDetails.class);

    assertThat(problem.more()).isEqualTo(Map.of("outcome", "not_found"));
    assertThat(CLIENT.writeValueAsString(problem)).isEqualTo(json);
  }

  @Test
  void anItemIsATimerWithAnId() {
    TimerRequest timer =
        new TimerRequest(
            Duration.ofHours(1),
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            new TimerRequest.Target("q", null, null, null, null),
            null,
            null,
            null,
            null,
            null);

    BatchItem item = BatchItem.of("a", timer);

    assertThat(item.timer()).isEqualTo(timer);
    assertThat(CLIENT.writeValueAsString(item))
        .isEqualTo("{\"id\":\"a\",\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}");
  }
}
