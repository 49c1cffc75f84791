// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Running.Answer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Tests verbs, lists, batches and bulk operations over HTTP. */
class ManyTimersTest {
  private static final String AT = "{\"at\":\"2099-01-01T00:00:00Z\",\"target\":{\"queue\":\"q\"}}";

  private static Running running;

  @BeforeAll
  static void start() {
    running = new Running();
  }

  @AfterAll
  static void stop() {
    running.close();
  }

  private static String item(String id, String more) {
    return "{\"id\":\""
        + id
        + "\",\"at\":\"2099-01-01T00:00:00Z\",\"target\":{\"queue\":\"q\"}"
        + more
        + "}";
  }

  private static Answer batch(String namespace, String... items) {
    return running.post(
        "/v1/namespaces/" + namespace + "/timers:batch",
        "{\"timers\":[" + String.join(",", items) + "]}");
  }

  private static List<String> ids(JsonNode timers) {
    List<String> ids = new ArrayList<>();
    timers.forEach(timer -> ids.add(timer.get("id").asString()));
    return ids;
  }

  // Verbs

  @Test
  void verbsAnswerWithTheTimer() {
    String path = "/v1/namespaces/verbs/timers/a";
    running.put(path, AT);
    Answer paused = running.post(path + ":pause", null);
    assertThat(paused.status()).isEqualTo(200);
    assertThat(paused.text("state")).isEqualTo("paused");
    assertThat(paused.header("ETag")).isNotNull();
    assertThat(running.post(path + ":resume", "{}").text("state")).isEqualTo("scheduled");
    Answer retried = running.post(path + ":retry", null);
    assertThat(retried.status()).isEqualTo(409);
    assertThat(retried.text("state")).isEqualTo("scheduled");
    assertThat(running.post(path + ":run", null, "If-Match", "\"1\"").status()).isEqualTo(412);
    assertThat(running.post(path + ":run", "{\"x\":1}").status()).isEqualTo(400);
    assertThat(running.post(path + ":run", null).status()).isEqualTo(200);
    assertThat(running.post("/v1/namespaces/verbs/timers/b:run", null).status()).isEqualTo(404);
  }

  @Test
  void moveTakesATimeOrADelay() {
    String path = "/v1/namespaces/move/timers/a:b";
    String tag = running.put(path, AT).header("ETag");
    Answer moved = running.post(path + ":move", "{\"at\":\"2098-01-01T00:00:00.0000001Z\"}");
    assertThat(moved.status()).isEqualTo(200);
    assertThat(moved.text("dueAt")).isEqualTo("2098-01-01T00:00:00.001Z");
    assertThat(moved.header("ETag")).isNotEqualTo(tag);
    assertThat(running.post(path + ":move", "{\"after\":\"PT1H\"}").status()).isEqualTo(200);
    assertThat(running.post(path + ":move", "{}").status()).isEqualTo(422);
    assertThat(running.post(path + ":move", null).status()).isEqualTo(400);
    assertThat(running.post("/v1/namespaces/move/timers/x:move", "{\"after\":\"PT1H\"}").status())
        .isEqualTo(404);
    running.send("DELETE", path, null);
    assertThat(running.post(path + ":move", "{\"after\":\"PT1H\"}").status()).isEqualTo(409);
  }

  @Test
  void theVerbFollowsTheLastUnencodedColon() {
    String path = "/v1/namespaces/colon/timers/";
    running.put(path + "a:pause", AT);
    assertThat(running.post(path + "a:pause:pause", null).text("id")).isEqualTo("a:pause");
    Answer none = running.post(path + "a%3Apause", null);
    assertThat(none.status()).isEqualTo(405);
    assertThat(none.header("Allow")).isEqualTo("DELETE, GET, PATCH, PUT");
  }

  // Lists

  @Test
  void listsPageByPage() {
    batch("list", item("a", ""), item("b", ""), item("c", ",\"payload\":{\"x\":1}"));
    Answer first = running.get("/v1/namespaces/list/timers?pageSize=2");
    assertThat(ids(first.json().get("timers"))).containsExactly("a", "b");
    String token = first.text("nextPageToken");
    assertThat(token).matches("[A-Za-z0-9_-]+");
    Answer last = running.get("/v1/namespaces/list/timers?pageSize=2&pageToken=" + token);
    assertThat(ids(last.json().get("timers"))).containsExactly("c");
    assertThat(last.json().has("nextPageToken")).isFalse();
    assertThat(last.json().at("/timers/0").has("payload")).isFalse();
    Answer whole = running.get("/v1/namespaces/list/timers?payload=true&prefix=c");
    assertThat(whole.json().at("/timers/0/payload/x").asInt()).isEqualTo(1);
  }

  @Test
  void listsContainUnfinishedTimersUnlessStatesAreGiven() {
    batch("states", item("a", ""), item("b", ""), item("c", ""));
    running.send("DELETE", "/v1/namespaces/states/timers/a", null);
    running.post("/v1/namespaces/states/timers/b:pause", null);
    assertThat(list("")).containsExactly("b", "c");
    assertThat(list("?state=cancelled")).containsExactly("a");
    assertThat(list("?state=cancelled,paused")).containsExactly("a", "b");
    assertThat(list("?state=cancelled&state=paused")).containsExactly("a", "b");
    assertThat(list("?state=all")).containsExactly("a", "b", "c");
    assertThat(list("?dueFrom=2099-01-01T00:00:00Z&state=scheduled")).containsExactly("c");
    assertThat(list("?dueTo=2099-01-01T00:00:00Z")).isEmpty();
    assertThat(list("?handler=q&prefix=c")).containsExactly("c");
    assertThat(list("?handler=r")).isEmpty();
  }

  private static List<String> list(String query) {
    return ids(running.get("/v1/namespaces/states/timers" + query).json().get("timers"));
  }

  @Test
  void anUnusedNamespaceIsEmptyNever404() {
    Answer timers = running.get("/v1/namespaces/unused/timers");
    assertThat(timers.status()).isEqualTo(200);
    assertThat(timers.json().get("timers")).isEmpty();
    assertThat(running.get("/v1/namespaces/unused/histogram").status()).isEqualTo(200);
    assertThat(
            running
                .post("/v1/namespaces/unused/queues/x/firings:claim", "{\"wait\":\"PT0S\"}")
                .json()
                .get("firings"))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "timers?pageToken=x",
        "timers?pageToken=MTpuaWR",
        "timers?pageSize=0",
        "timers?pageSize=5001",
        "timers?state=happy",
        "timers?color=red",
        "timers?payload=maybe",
        "timers?dueFrom=today",
        "timers?dueFrom=%2B10000-01-01T00:00:00Z",
        "timers?dueTo=1969-12-31T23:59:59Z",
        "histogram?to=%2B10000-01-01T00:00:00Z",
        "timers?pageSize=1&pageSize=2",
        "timers?prefix=%FF",
        "histogram?buckets=0",
        "histogram?from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z",
        "histogram?from=-1000000000-01-01T00:00:00Z"
      })
  void aWrongQueryIs400(String path) {
    assertThat(running.get("/v1/namespaces/shop/" + path).status()).isEqualTo(400);
  }

  @Test
  void histogramCountsAreExact() {
    batch("histo", item("a", ""), item("b", ""));
    Answer answer =
        running.get(
            "/v1/namespaces/histo/histogram?from=2098-12-31T23:59:59Z&to=2099-01-01T00:00:01Z&buckets=2");
    assertThat(answer.json().get("buckets")).hasSize(2);
    assertThat(answer.json().at("/buckets/0/count").asInt()).isZero();
    assertThat(answer.json().at("/buckets/1/count").asInt()).isEqualTo(2);
    assertThat(answer.json().at("/buckets/1/from").asString()).isEqualTo("2099-01-01T00:00:00Z");
    assertThat(answer.json().at("/buckets/1/to").asString()).isEqualTo("2099-01-01T00:00:01Z");
  }

  // Batches

  @Test
  void aBatchAnswersEachTimerInOrder() {
    running.put("/v1/namespaces/batch/timers/old", AT);
    Answer answer =
        batch(
            "batch",
            item("new", ""),
            item("old", ""),
            item("old", ",\"ifNoneMatch\":\"*\""),
            item("old", ",\"ifMatch\":\"\\\"1\\\"\""),
            item("..", ""),
            item("old", ",\"ifMatch\":1"),
            item("wrong", ",\"color\":1"),
            "{\"id\":\"none\"}",
            "{}",
            "7",
            item("last", ""));
    assertThat(answer.status()).isEqualTo(200);
    List<Integer> statuses = new ArrayList<>();
    answer.json().get("results").forEach(result -> statuses.add(result.get("status").asInt()));
    assertThat(statuses).containsExactly(201, 200, 412, 412, 400, 412, 400, 422, 422, 400, 201);
    assertThat(answer.json().at("/results/0/id").asString()).isEqualTo("new");
    assertThat(answer.json().at("/results/0/version").asLong()).isPositive();
    assertThat(answer.json().at("/results/2/error/type").asString()).contains("precondition");
    assertThat(answer.json().at("/results/6/error/field").asString()).isEqualTo("color");
    assertThat(answer.json().at("/results/6/id").asString()).isEqualTo("wrong");
    assertThat(running.get("/v1/namespaces/batch/timers/last").status()).isEqualTo(200);
  }

  @Test
  void aBatchHas1000TimersAtMost() {
    String[] items = new String[1_001];
    for (int i = 0; i < items.length; i++) {
      items[i] = item("t" + i, "");
    }
    assertThat(batch("many", items).status()).isEqualTo(422);
    assertThat(batch("many").status()).isEqualTo(422);
    Answer whole = batch("many", Arrays.copyOf(items, 1_000));
    assertThat(whole.status()).isEqualTo(200);
    assertThat(whole.json().get("results")).hasSize(1_000);
  }

  @Test
  void aBatchWithAnIdempotencyKeyAnswersAsTheFirst() {
    String body = "{\"timers\":[" + item("a", "") + "]}";
    String path = "/v1/namespaces/key/timers:batch";
    Answer first = running.post(path, body, "Idempotency-Key", "k");
    assertThat(first.json().at("/results/0/status").asInt()).isEqualTo(201);
    assertThat(running.post(path, body, "Idempotency-Key", "k").json()).isEqualTo(first.json());
  }

  @Test
  void aBatchWithAnIdempotencyKeyMayNameATimerTwice() {
    String path = "/v1/namespaces/twice/timers:batch";
    String body = "{\"timers\":[" + item("a", "") + "," + item("a", ",\"payload\":7") + "]}";
    Answer first = running.post(path, body, "Idempotency-Key", "k");
    assertThat(first.json().at("/results/0/status").asInt()).isEqualTo(201);
    assertThat(first.json().at("/results/1/status").asInt()).isEqualTo(200);
    Answer timer = running.get("/v1/namespaces/twice/timers/a");
    assertThat(timer.json().get("payload").asInt()).isEqualTo(7);
    assertThat(running.post(path, body, "Idempotency-Key", "k").json()).isEqualTo(first.json());
  }

  // Bulk

  @ParameterizedTest
  @CsvSource({
    "cancel, scheduled, cancelled",
    "pause, scheduled, paused",
    "resume, paused, scheduled"
  })
  void bulkVerbsChangeTheCountedTimers(String verb, String before, String after) {
    String namespace = "bulk-" + verb;
    batch(namespace, item("a1", ""), item("a2", ""), item("b", ""));
    if (before.equals("paused")) {
      bulk(namespace, "pause", "{\"filter\":{},\"force\":true}");
    }
    Answer differs = bulk(namespace, verb, "{\"filter\":{\"prefix\":\"a\"},\"expect\":3}");
    assertThat(differs.status()).isEqualTo(409);
    assertThat(differs.json().get("count").asInt()).isEqualTo(2);
    Answer done =
        bulk(
            namespace,
            verb,
            "{\"filter\":{\"prefix\":\"a\",\"state\":\"" + before + "\"},\"expect\":2}");
    assertThat(done.status()).as(done.response().body()).isEqualTo(200);
    assertThat(done.json().get("count").asInt()).isEqualTo(2);
    assertThat(done.json().get("changed").asInt()).isEqualTo(2);
    String timers = "/v1/namespaces/" + namespace + "/timers";
    assertThat(running.get(timers + "/a1").text("state")).isEqualTo(after);
    assertThat(running.get(timers + "/b").text("state")).isEqualTo(before);
  }

  private static Answer bulk(String namespace, String verb, String body) {
    return running.post("/v1/namespaces/" + namespace + "/timers:" + verb, body);
  }

  @Test
  void aBulkVerbNeedsAFilter() {
    assertThat(bulk("x", "cancel", "{\"expect\":0}").status()).isEqualTo(422);
    String states = "{\"filter\":{\"state\":[\"paused\",\"ready\"]},\"force\":true}";
    assertThat(bulk("x", "cancel", states).status()).isEqualTo(200);
    assertThat(bulk("x", "run", "{\"filter\":{},\"force\":true}").status()).isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(strings = {"cancel", "pause", "resume", "retry"})
  void aBulkVerbNeedsTheNumberOfTimersOrForce(String verb) {
    String namespace = "intent-" + verb;
    batch(namespace, item("a", ""));
    for (String more : List.of("", ",\"force\":false", ",\"expect\":1,\"force\":true")) {
      Answer refused = bulk(namespace, verb, "{\"filter\":{}" + more + "}");
      assertThat(refused.status()).as(more).isEqualTo(422);
      assertThat(refused.text("field")).as(more).isIn("expect", "force");
    }
    assertThat(running.get("/v1/namespaces/" + namespace + "/timers/a").text("state"))
        .isEqualTo("scheduled");
  }
}
