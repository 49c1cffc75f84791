// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.TimerSpec;
import io.timewheel.server.Running.Answer;
import io.timewheel.server.webhook.AddressPolicy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Tests the order and the filters of lists of timers. */
class TimerListResourceTest {
  private static final String TIMERS = "/v1/namespaces/shop/timers";

  @TempDir private static Path directory;

  private final Running running =
      new Running(Running.secrets(directory, "s"), AddressPolicy.admitting(List.of()));

  @AfterEach
  void stop() {
    running.close();
  }

  private void put(String id, String at, String target) {
    Answer put =
        running.put(
            TIMERS + "/" + id, "{\"at\":\"" + at + "T00:00:00Z\",\"target\":{" + target + "}}");
    assertThat(put.status()).as(put.response().body()).isEqualTo(201);
  }

  private List<String> ids(String query) {
    List<String> ids = new ArrayList<>();
    String token = "";
    do {
      JsonNode page = running.get(TIMERS + "?pageSize=2" + query + token).json();
      page.get("timers").forEach(timer -> ids.add(timer.get("id").asString()));
      token = page.has("nextPageToken") ? "&pageToken=" + page.get("nextPageToken").asString() : "";
    } while (!token.isEmpty());
    return ids;
  }

  @Test
  void sortsByDueTimeByIdAndByCreationInBothDirections() {
    put("b", "2099-01-03", "\"queue\":\"q\"");
    put("c", "2099-01-01", "\"queue\":\"q\"");
    put("a", "2099-01-02", "\"queue\":\"q\"");
    assertThat(ids("")).containsExactly("a", "b", "c");
    assertThat(ids("&order=desc")).containsExactly("c", "b", "a");
    assertThat(ids("&orderBy=due")).containsExactly("c", "a", "b");
    assertThat(ids("&orderBy=due&order=desc")).containsExactly("b", "a", "c");
    List<String> created = ids("&orderBy=created&order=asc");
    assertThat(created).containsExactlyInAnyOrder("a", "b", "c");
    assertThat(ids("&orderBy=created&order=desc"))
        .containsExactly(created.get(2), created.get(1), created.get(0));
  }

  @Test
  void aPageTokenIsValidOnlyForItsOrder() {
    put("a", "2099-01-01", "\"queue\":\"q\"");
    put("b", "2099-01-02", "\"queue\":\"q\"");
    String token = running.get(TIMERS + "?pageSize=1&orderBy=due").text("nextPageToken");
    assertThat(running.get(TIMERS + "?orderBy=due&pageToken=" + token).status()).isEqualTo(200);
    assertThat(running.get(TIMERS + "?orderBy=created&pageToken=" + token).status()).isEqualTo(400);
    assertThat(running.get(TIMERS + "?pageToken=" + token).status()).isEqualTo(400);
  }

  @Test
  void filtersByQueueAndByKindOfTarget() {
    put("a", "2099-01-01", "\"queue\":\"orders\"");
    put("b", "2099-01-02", "\"queue\":\"mails\"");
    put("c", "2099-01-03", "\"url\":\"https://shop.example/h\",\"secret\":\"s\"");
    var unused =
        running.timer.schedule(
            TimerSpec.of("shop", "d").handler("orders").after(Duration.ofDays(1)));
    assertThat(ids("&queue=orders")).containsExactly("a");
    assertThat(ids("&target=queue")).containsExactly("a", "b");
    assertThat(ids("&target=queue&queue=mails")).containsExactly("b");
    assertThat(ids("&target=url")).containsExactly("c");
    assertThat(ids("&handler=orders")).containsExactly("a", "d");
    assertThat(ids("&target=queue&orderBy=due&order=desc")).containsExactly("b", "a");
  }

  /** Timers with handlers are left out after they were read, so a small page reads many. */
  @Test
  void aSmallPageOfUrlsIsFilled() {
    List<TimerSpec> specs = new ArrayList<>();
    for (int i = 0; i < 150; i++) {
      specs.add(TimerSpec.of("shop", "h" + i).handler("orders").after(Duration.ofDays(1)));
    }
    running.timer.scheduleAll(specs);
    put("v", "2099-01-01", "\"url\":\"https://shop.example/h\",\"secret\":\"s\"");
    put("w", "2099-01-01", "\"url\":\"https://shop.example/h\",\"secret\":\"s\"");
    JsonNode page = running.get(TIMERS + "?pageSize=1&target=url").json();
    assertThat(page.at("/timers/0/id").asString()).isEqualTo("v");
    assertThat(page.get("timers")).hasSize(1);
    assertThat(ids("&target=url")).containsExactly("v", "w");
    assertThat(ids("&target=url&order=desc")).containsExactly("w", "v");
  }

  @ParameterizedTest
  @CsvSource({
    "orderBy=color, orderBy",
    "order=up, order",
    "target=both, target",
    "queue=a&target=url, target",
    "queue=a&handler=a, queue",
    "queue=, queue"
  })
  void refusesWrongParameters(String query, String field) {
    Answer answer = running.get(TIMERS + "?" + query);
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.text("field")).isEqualTo(field);
  }
}
