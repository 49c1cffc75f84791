// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerState;
import io.timewheel.server.Running.Answer;
import io.timewheel.testing.Await;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Tests queues, their pauses, and pauses of namespaces over HTTP. */
class QueueListResourceTest {
  private static final String SHOP = "/v1/namespaces/shop";
  private static final String QUEUES = SHOP + "/queues";

  private final Running running = new Running();

  @AfterEach
  void stop() {
    running.close();
  }

  private void put(String id, String after, String queue) {
    Answer put =
        running.put(
            SHOP + "/timers/" + id,
            "{\"after\":\"" + after + "\",\"target\":{\"queue\":\"" + queue + "\"}}");
    assertThat(put.status()).isEqualTo(201);
  }

  private void awaitReady(String id) {
    Await.until(
        () -> running.scheduler.timer("shop", id).get().orElseThrow().state() == TimerState.READY);
  }

  private JsonNode claim(String queue, String wait) {
    Answer answer =
        running.post(
            QUEUES + "/" + queue + "/firings:claim", "{\"wait\":\"" + wait + "\",\"max\":1}");
    assertThat(answer.status()).isEqualTo(200);
    return answer.json().get("firings");
  }

  private JsonNode change(String path) {
    Answer answer = running.post(path, null);
    assertThat(answer.status()).as(answer.response().body()).isEqualTo(200);
    return answer.json();
  }

  @Test
  void listsTheStateOfEachQueue() {
    put("a", "PT0S", "orders");
    awaitReady("a");
    put("b", "PT0S", "orders");
    awaitReady("b");
    put("c", "PT1H", "later");
    assertThat(claim("orders", "PT1M")).hasSize(1);
    String oldest = running.scheduler.timer("shop", "b").get().orElseThrow().changedAt().toString();
    assertThat(change(QUEUES + "/idle:pause").get("running").asLong()).isZero();
    JsonNode queues = running.get(QUEUES).json().get("queues");
    assertThat(queues)
        .hasToString(
            Running.MAPPER
                .readTree(
                    """
                    [{"name":"idle","ready":0,"running":0,"waitingClaims":0,"paused":true},
                     {"name":"later","ready":0,"running":0,"waitingClaims":0,"paused":false},
                     {"name":"orders","ready":1,"oldestReadyAt":"%s","running":1,
                      "waitingClaims":0,"paused":false}]\
                    """
                        .formatted(oldest))
                .toString());
    assertThat(running.get("/v1/namespaces/none/queues").json().get("queues")).isEmpty();
  }

  @Test
  void listsQueuesPageByPage() {
    for (int i = 0; i < 5; i++) {
      put("t" + i, "PT1H", "q" + i);
    }
    List<String> names = new ArrayList<>();
    String token = "";
    int pages = 0;
    do {
      JsonNode page = running.get(QUEUES + "?pageSize=2" + token).json();
      page.get("queues").forEach(queue -> names.add(queue.get("name").asString()));
      token = page.has("nextPageToken") ? "&pageToken=" + page.get("nextPageToken").asString() : "";
      pages++;
    } while (!token.isEmpty());
    assertThat(names).containsExactly("q0", "q1", "q2", "q3", "q4");
    assertThat(pages).isEqualTo(3);
    String first = running.get(QUEUES + "?pageSize=2").text("nextPageToken");
    assertThat(running.get("/v1/namespaces/other/queues?pageToken=" + first).status())
        .isEqualTo(400);
  }

  @Test
  void aPausedQueueReturnsNothingUntilItIsResumed() throws Exception {
    put("a", "PT0S", "orders");
    put("b", "PT0S", "orders");
    put("c", "PT0S", "mails");
    JsonNode claimed = claim("orders", "PT1M").get(0);
    assertThat(change(QUEUES + "/orders:pause").get("running").asLong()).isOne();
    assertThat(change(QUEUES + "/orders:pause").get("running").asLong()).as("again").isOne();
    assertThat(claim("orders", "PT0S")).isEmpty();
    assertThat(claim("mails", "PT1M")).hasSize(1);
    String ack = SHOP + "/firings/" + claimed.get("fireId").asString() + ":ack";
    String lease = "{\"leaseToken\":\"" + claimed.get("leaseToken").asString() + "\"}";
    assertThat(running.post(ack, lease).status()).as("claimed before").isEqualTo(200);
    CompletableFuture<HttpResponse<String>> waiting =
        running.client.sendAsync(
            HttpRequest.newBuilder(
                    URI.create(
                        "http://127.0.0.1:"
                            + running.server.port()
                            + QUEUES
                            + "/orders/firings:claim"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"wait\":\"PT1M\"}"))
                .build(),
            BodyHandlers.ofString());
    Await.until(() -> running.server.waitingClaims() == 1);
    change(QUEUES + "/orders:resume");
    assertThat(Running.MAPPER.readTree(waiting.get().body()).get("firings")).hasSize(1);
  }

  @Test
  void aPausedNamespaceReportsTheAttemptsThatStillRun() {
    put("a", "PT0S", "orders");
    put("b", "PT0S", "orders");
    assertThat(claim("orders", "PT1M")).hasSize(1);
    assertThat(change(SHOP + ":pause").get("running").asLong()).isOne();
    assertThat(running.get("/v1/namespaces").json().at("/namespaces/0/paused").asBoolean())
        .isTrue();
    assertThat(running.get(QUEUES).json().at("/queues/0/paused").asBoolean()).isTrue();
    assertThat(claim("orders", "PT0S")).isEmpty();
    assertThat(change(SHOP + ":resume").get("running").asLong()).isOne();
    assertThat(claim("orders", "PT1M")).hasSize(1);
  }

  @Test
  void aPauseSurvivesARestart() {
    change(QUEUES + "/orders:pause");
    assertThat(running.store.reopen().paused()).containsExactly("shop\norders");
  }

  @Test
  void endsManyLeasesEachOnItsOwn() {
    List<String> items = new ArrayList<>();
    for (String id : List.of("a", "b", "c")) {
      put(id, "PT0S", "orders");
      JsonNode firing = claim("orders", "PT1M").get(0);
      items.add(
          "\"fireId\":\""
              + firing.get("fireId").asString()
              + "\",\"leaseToken\":\""
              + firing.get("leaseToken").asString()
              + "\"");
    }
    String extend =
        "{\"firings\":[{"
            + items.get(0)
            + ",\"leaseDuration\":\"PT1H\"},{"
            + items.get(1)
            + ",\"leaseDuration\":\"PT0S\"},{"
            + items.get(2)
            + "}]}";
    assertThat(results("extend", extend)).containsExactly("200", "422", "422");
    String ack =
        "{\"firings\":[{"
            + items.get(0)
            + "},{"
            + items.get(0)
            + "},{\"fireId\":\"none\",\"leaseToken\":\"x\"},{\"leaseToken\":\"x\"},{"
            + items.get(1)
            + ",\"color\":1},7]}";
    assertThat(results("ack", ack)).containsExactly("200", "200", "404", "422", "400", "400");
    String nack =
        "{\"firings\":[{" + items.get(1) + ",\"error\":\"no stock\"},{" + items.get(0) + "}]}";
    assertThat(results("nack", nack)).containsExactly("200", "409");
    assertThat(running.scheduler.timer("shop", "b").get().orElseThrow().lastError())
        .hasValue("no stock");
    String one = "{" + items.get(2) + "}";
    String many = "{\"firings\":[" + one + ("," + one).repeat(1_000) + "]}";
    assertThat(running.post(SHOP + "/firings:ack", many).status()).isEqualTo(422);
  }

  private List<String> results(String verb, String body) {
    Answer answer = running.post(SHOP + "/firings:" + verb, body);
    assertThat(answer.status()).as(answer.response().body()).isEqualTo(200);
    List<String> statuses = new ArrayList<>();
    answer
        .json()
        .get("results")
        .forEach(
            result -> {
              statuses.add(result.get("status").asString());
              assertThat(result.has("error")).isEqualTo(result.get("status").asInt() != 200);
              if (result.at("/error/field").asString("").equals("color")) {
                assertThat(body).contains(result.get("fireId").asString());
              }
            });
    return statuses;
  }

  @Test
  void previewsASchedule() {
    Answer preview =
        running.post(
            "/v1/schedules:preview",
            "{\"cron\":\"30 2 * * *\",\"zone\":\"Europe/Berlin\",\"count\":3}");
    assertThat(preview.status()).isEqualTo(200);
    assertThat(preview.json().get("next")).hasSize(3);
    assertThat(running.post("/v1/schedules:preview", "{\"every\":\"PT1H\"}").json().get("next"))
        .hasSize(5);
    assertThat(
            running
                .post("/v1/schedules:preview", "{\"at\":\"2099-01-01T00:00:00Z\"}")
                .json()
                .get("next"))
        .hasSize(1);
    for (String wrong :
        List.of(
            "{\"cron\":\"61 * * * *\"}",
            "{\"every\":\"PT1H\",\"at\":\"2099-01-01T00:00:00Z\"}",
            "{\"every\":\"PT1H\",\"count\":0}",
            "{\"every\":\"PT1H\",\"count\":1001}",
            "{\"every\":\"PT1H\",\"zone\":\"UTC\"}")) {
      assertThat(running.post("/v1/schedules:preview", wrong).status()).as(wrong).isEqualTo(422);
    }
  }
}
