// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.server.Running.Answer;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.webhook.AddressPolicy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
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

  /** A due timer of a queue is stored as ready, so scheduled ones need not be read. */
  @Test
  void readyTimersOfQueuesAreReadAlone() throws Exception {
    List<Set<TimerState>> read = new ArrayList<>();
    ForwardingTimerStore store =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
            read.add(query.states());
            return super.page(query, after, limit);
          }
        };
    try (TimewheelServer server = TimewheelServer.start(ServerConfig.loopback(0));
        DurableTimer scheduler = DurableTimer.builder(server.watch("read", store)).start()) {
      server.serve(scheduler);
      String list = "http://127.0.0.1:" + server.port() + TIMERS + "?state=ready";
      for (String more : List.of("&queue=q", "&target=queue", "")) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(list + more)).build();
        HttpClient.newHttpClient().send(request, BodyHandlers.discarding());
      }
    }
    Set<TimerState> ready = Set.of(TimerState.READY);
    assertThat(read)
        .containsExactly(
            ready, ready, Set.of(TimerState.READY, TimerState.SCHEDULED, TimerState.RETRYING));
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
        running.scheduler.schedule(
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
    running.scheduler.scheduleAll(specs);
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
