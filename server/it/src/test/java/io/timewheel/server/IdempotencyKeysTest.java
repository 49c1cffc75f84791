// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.LeaseChange;
import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.server.Running.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests requests with an Idempotency-Key. */
class IdempotencyKeysTest {
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

  private static Answer delete(String id, String key, String... headers) {
    String[] all = new String[headers.length + 2];
    System.arraycopy(headers, 0, all, 2, headers.length);
    all[0] = "Idempotency-Key";
    all[1] = key;
    return running.send("DELETE", path(id), null, all);
  }

  private static Answer verb(String id, String verb, String key) {
    return running.post(path(id) + ":" + verb, "{}", "Idempotency-Key", key);
  }

  private static TimerState state(String id) {
    return running.scheduler.timer("shop", id).get().orElseThrow().state();
  }

  @Test
  void aRepeatedCancelKeepsATimerCreatedMeanwhile() {
    running.put(path("again"), AFTER);
    assertThat(delete("again", "k").text("outcome")).isEqualTo("cancelled");
    running.put(path("again"), AFTER);

    Answer retry = delete("again", "k");

    assertThat(retry.status()).isEqualTo(200);
    assertThat(retry.text("outcome")).isEqualTo("cancelled");
    assertThat(state("again")).isEqualTo(TimerState.SCHEDULED);
    assertThat(delete("again", "k2").text("outcome")).isEqualTo("cancelled");
    assertThat(state("again")).isEqualTo(TimerState.CANCELLED);
  }

  @Test
  void aRepeatedCancelOfAnAbsentTimerIsNotFoundAgain() {
    assertThat(delete("later", "k").status()).isEqualTo(404);
    running.put(path("later"), AFTER);
    assertThat(delete("later", "k").text("outcome")).isEqualTo("not_found");
    assertThat(state("later")).isEqualTo(TimerState.SCHEDULED);
  }

  @Test
  void aRepeatedRunRunsOnce() {
    running.put(path("run"), "{\"every\":\"PT1H\",\"target\":{\"queue\":\"run\"}}");
    assertThat(verb("run", "run", "k").status()).isEqualTo(200);
    QueueFiring firing = claim("run");
    running
        .scheduler
        .async()
        .changeLease(LeaseChange.ack(firing.firing().fireId(), firing.leaseToken()))
        .toCompletableFuture()
        .join();

    assertThat(verb("run", "run", "k").status()).isEqualTo(200);

    assertThat(state("run")).isEqualTo(TimerState.SCHEDULED);
    assertThat(running.scheduler.timer("shop", "run").get().orElseThrow().dueAt())
        .isAfter(running.scheduler.now().plusSeconds(60));
  }

  @ParameterizedTest
  @CsvSource({"pause, resume, SCHEDULED", "resume, pause, PAUSED"})
  void aRepeatedVerbDoesNotUndoALaterOne(String first, String later, TimerState last) {
    String id = "undo-" + first;
    running.put(path(id), AFTER);
    assertThat(verb(id, first, "k").status()).isEqualTo(200);
    assertThat(verb(id, later, "k").status()).as("a key is good for one verb").isEqualTo(200);
    assertThat(verb(id, first, "k").status()).isEqualTo(200);
    assertThat(state(id)).isEqualTo(last);
  }

  @Test
  void aRepeatedMoveMovesOnce() {
    running.put(path("move"), AFTER);
    String body = "{\"after\":\"PT2H\"}";
    Answer first = running.post(path("move") + ":move", body, "Idempotency-Key", "k");
    Answer retry = running.post(path("move") + ":move", body, "Idempotency-Key", "k");
    assertThat(retry.json()).isEqualTo(first.json());
    assertThat(retry.header("ETag")).isEqualTo(first.header("ETag"));
  }

  @Test
  void aWrongStateIsAnsweredAgain() {
    running.put(path("wrong"), AFTER);
    assertThat(verb("wrong", "retry", "k").status()).isEqualTo(409);
    assertThat(verb("wrong", "retry", "k").status()).isEqualTo(409);
  }

  @Test
  void aPreconditionThatTheFirstRequestMetIsNotCheckedAgain() {
    running.put(path("if"), AFTER);
    assertThat(delete("if", "k", "If-Match", "*").text("outcome")).isEqualTo("cancelled");
    running.put(path("if"), AFTER);
    assertThat(delete("if", "k", "If-Match", "*").text("outcome")).isEqualTo("cancelled");
    assertThat(state("if")).isEqualTo(TimerState.SCHEDULED);
  }

  @Test
  void aRepeatedPutAnswersAsTheFirstAfterTheTimerWasPurged() {
    String body = "{\"at\":\"2020-01-01T00:00:00Z\",\"target\":{\"queue\":\"purged\"}}";
    Answer first = running.put(path("purged"), body, "Idempotency-Key", "k");
    QueueFiring firing = claim("purged");
    running
        .scheduler
        .async()
        .changeLease(LeaseChange.ack(firing.firing().fireId(), firing.leaseToken()))
        .toCompletableFuture()
        .join();
    running.store.purge(TimerRecord.NEVER, 0, 1_000);
    assertThat(running.get(path("purged")).status()).isEqualTo(404);

    Answer retry = running.put(path("purged"), body, "Idempotency-Key", "k");

    assertThat(retry.status()).isEqualTo(201);
    assertThat(retry.header("ETag")).isEqualTo(first.header("ETag"));
    assertThat(retry.json().get("version")).isEqualTo(first.json().get("version"));
    assertThat(retry.text("dueAt")).isEqualTo(first.text("dueAt"));
  }

  @Test
  void aRepeatedReplacementAnswersAsTheFirstAfterTheTimerWasPurged() {
    String body = "{\"at\":\"2020-01-01T00:00:00Z\",\"target\":{\"queue\":\"overwritten\"}}";
    String[] headers = {"Idempotency-Key", "k", "If-Match", "*"};
    assertThat(running.put(path("overwritten"), body, headers).status()).isEqualTo(412);
    running.put(path("overwritten"), AFTER);
    Answer first = running.put(path("overwritten"), body, headers);
    assertThat(first.status()).isEqualTo(200);
    QueueFiring firing = claim("overwritten");
    running
        .scheduler
        .async()
        .changeLease(LeaseChange.ack(firing.firing().fireId(), firing.leaseToken()))
        .toCompletableFuture()
        .join();
    running.store.purge(TimerRecord.NEVER, 0, 1_000);

    Answer retry = running.put(path("overwritten"), body, headers);

    assertThat(retry.status()).isEqualTo(200);
    assertThat(retry.header("ETag")).isEqualTo(first.header("ETag"));
    assertThat(running.put(path("overwritten"), body, "If-Match", "*").status()).isEqualTo(412);
  }

  @Test
  void aRepeatedPutAnswersAsTheFirstAfterTheTimerWasReplaced() {
    Answer first = running.put(path("replaced"), AFTER, "Idempotency-Key", "k");
    running.put(path("replaced"), AFTER.replace("1H", "2H"));

    Answer retry = running.put(path("replaced"), AFTER, "Idempotency-Key", "k");

    assertThat(retry.status()).isEqualTo(201);
    assertThat(retry.header("ETag")).isEqualTo(first.header("ETag"));
    assertThat(retry.json().get("version")).isEqualTo(first.json().get("version"));
  }

  @Test
  void aRepeatedPatchShowsTheTimerAsItIsNow() {
    String version = running.put(path("patched"), AFTER).header("ETag");
    Answer first = patch(version);
    assertThat(first.status()).isEqualTo(200);
    Answer later = running.put(path("patched"), AFTER.replace("1H", "3H"));

    Answer retry = patch(version);

    assertThat(retry.status()).isEqualTo(200);
    assertThat(retry.header("ETag")).isEqualTo(first.header("ETag"));
    assertThat(retry.json()).isEqualTo(later.json());
  }

  private static Answer patch(String version) {
    return running.send(
        "PATCH",
        path("patched"),
        "{\"after\":\"PT2H\"}",
        "Content-Type",
        "application/merge-patch+json",
        "If-Match",
        version,
        "Idempotency-Key",
        "k");
  }

  @Test
  void severalTagsAreNotComparedAgain() {
    String version = running.put(path("tags"), AFTER).header("ETag");
    String tags = "\"1234567\", " + version;
    Answer first = running.put(path("tags"), AFTER, "Idempotency-Key", "k", "If-Match", tags);
    assertThat(first.status()).isEqualTo(200);

    Answer retry = running.put(path("tags"), AFTER, "Idempotency-Key", "k", "If-Match", tags);

    assertThat(retry.status()).isEqualTo(200);
    assertThat(retry.header("ETag")).isEqualTo(first.header("ETag"));
    assertThat(running.put(path("tags"), AFTER, "If-Match", tags).status()).isEqualTo(412);
  }

  private static QueueFiring claim(String queue) {
    Duration half = Duration.ofSeconds(30);
    var claim = running.scheduler.async().queue("shop", queue).claim(1, half, half.multipliedBy(2));
    return claim.toCompletableFuture().join().get(0);
  }

  private static Answer nack(QueueFiring firing, String after, String key) {
    String path = "/v1/namespaces/shop/firings/" + firing.firing().fireId() + ":nack";
    String body = "{\"leaseToken\":\"" + firing.leaseToken() + "\",\"after\":\"" + after + "\"}";
    return running.post(path, body, "Idempotency-Key", key);
  }

  /** Without a key, the second request would find that its claim lease has ended. */
  @Test
  void aRepeatedNackAnswersAsTheFirst() {
    running.put(path("nack"), "{\"after\":\"PT0S\",\"target\":{\"queue\":\"nack\"}}");
    QueueFiring firing = claim("nack");
    assertThat(nack(firing, "PT1H", "k").status()).isEqualTo(200);
    assertThat(nack(firing, "PT1H", "k").status()).isEqualTo(200);
    assertThat(nack(firing, "PT1H", "k2").status()).isEqualTo(409);
  }

  /** A client may use the fire ID as its key, although all attempts have the same fire ID. */
  @Test
  void aKeyIsValidForOneLease() {
    running.put(path("leases"), "{\"after\":\"PT0S\",\"target\":{\"queue\":\"leases\"}}");
    assertThat(nack(claim("leases"), "PT0S", "k").status()).isEqualTo(200);
    assertThat(nack(claim("leases"), "PT1H", "k").status()).isEqualTo(200);
    assertThat(state("leases")).isEqualTo(TimerState.RETRYING);
  }

  private static Answer lease(QueueFiring firing, String verb, String fields, String key) {
    String path = "/v1/namespaces/shop/firings/" + firing.firing().fireId() + ":" + verb;
    String body = "{\"leaseToken\":\"" + firing.leaseToken() + "\"" + fields + "}";
    return running.post(path, body, "Idempotency-Key", key);
  }

  @Test
  void aKeyOfALeaseWithAnotherBodyIsRefused() {
    running.put(path("differs"), "{\"after\":\"PT0S\",\"target\":{\"queue\":\"differs\"}}");
    QueueFiring firing = claim("differs");
    assertThat(lease(firing, "extend", ",\"leaseDuration\":\"PT1M\"", "k").status()).isEqualTo(200);
    assertReused(lease(firing, "extend", ",\"leaseDuration\":\"PT2M\"", "k"));
    assertThat(lease(firing, "nack", ",\"after\":\"PT1H\"", "k").status()).isEqualTo(200);
    assertReused(lease(firing, "nack", ",\"after\":\"PT2H\"", "k"));
    assertThat(lease(firing, "extend", ",\"leaseDuration\":\"PT1M\"", "k").status())
        .as("the extension that was made")
        .isEqualTo(200);
  }

  /**
   * Without a key, an ack that is repeated after the next run would be refused, because its claim
   * lease has ended.
   */
  @Test
  void aRepeatedAckAnswersAsTheFirstAfterTheNextRun() {
    running.put(path("acked"), "{\"every\":\"PT1H\",\"target\":{\"queue\":\"acked\"}}");
    QueueFiring first = run("acked");
    assertThat(lease(first, "ack", "", "k").status()).isEqualTo(200);
    QueueFiring second = run("acked");
    assertThat(lease(second, "ack", "", "k").status()).isEqualTo(200);
    assertThat(lease(first, "ack", "", "k").status()).isEqualTo(200);
    assertThat(lease(first, "ack", "", "k2").status()).isEqualTo(409);
  }

  private static QueueFiring run(String id) {
    assertThat(running.post(path(id) + ":run", "{}").status()).isEqualTo(200);
    return claim(id);
  }

  private static Answer leases(String verb, String key, String... items) {
    String body = "{\"firings\":[" + String.join(",", items) + "]}";
    return running.post("/v1/namespaces/shop/firings:" + verb, body, "Idempotency-Key", key);
  }

  private static String item(QueueFiring firing, String fields) {
    return "{\"fireId\":\""
        + firing.firing().fireId()
        + "\",\"leaseToken\":\""
        + firing.leaseToken()
        + "\""
        + fields
        + "}";
  }

  private static List<Integer> statuses(Answer answer) {
    List<Integer> all = new ArrayList<>();
    answer.json().get("results").forEach(result -> all.add(result.get("status").asInt()));
    return all;
  }

  @Test
  void aBatchOfNacksAnswersEachItemAsTheFirstTime() {
    for (String id : new String[] {"n1", "n2", "n3"}) {
      running.put(path(id), "{\"after\":\"PT0S\",\"target\":{\"queue\":\"" + id + "\"}}");
    }
    String one = item(claim("n1"), ",\"after\":\"PT1H\"");
    String two = item(claim("n2"), "");
    String three = item(claim("n3"), "");
    assertThat(statuses(leases("nack", "k", one, two))).containsExactly(200, 200);
    assertThat(statuses(leases("nack", "k", one, two, three))).containsExactly(200, 200, 200);
    assertThat(statuses(leases("nack", "k2", one, two, three))).containsExactly(409, 409, 409);
    Answer reused = leases("nack", "k", one.replace("PT1H", "PT2H"), two);
    assertThat(statuses(reused)).containsExactly(422, 200);
    assertThat(reused.json().at("/results/0/error/type").asString())
        .endsWith(":idempotency_key_reused");
  }

  @Test
  void aRefusedRequestIsTriedAgain() {
    String version = running.put(path("refused"), AFTER).header("ETag");
    assertThat(delete("refused", "k", "If-Match", "\"1234567\"").status()).isEqualTo(412);
    assertThat(delete("refused", "k", "If-Match", version).text("outcome")).isEqualTo("cancelled");
  }

  @Test
  void aRepeatedBulkVerbAnswersAsTheFirst() {
    String at = "/v1/namespaces/bulk/timers";
    running.put(at + "/a", AFTER);
    String body = "{\"filter\":{},\"expect\":1}";
    Answer first = running.post(at + ":cancel", body, "Idempotency-Key", "k");
    assertThat(first.json().get("changed").asInt()).isEqualTo(1);
    running.put(at + "/b", AFTER);

    assertThat(running.post(at + ":cancel", body, "Idempotency-Key", "k").json())
        .isEqualTo(first.json());

    assertThat(running.scheduler.timer("bulk", "b").get().orElseThrow().state())
        .isEqualTo(TimerState.SCHEDULED);
  }

  @Test
  void aKeyHasALimit() {
    assertThat(delete("long", "k".repeat(257)).status()).isEqualTo(400);
  }

  @Test
  void aKeyIsRetainedWhileManyFollow() {
    Answer first = running.put(path("many"), AFTER, "Idempotency-Key", "first");
    assertThat(first.status()).isEqualTo(201);
    for (int i = 0; i < 100; i++) {
      assertThat(running.put(path("many"), AFTER, "Idempotency-Key", "k" + i).status())
          .isEqualTo(200);
    }
    Answer retry = running.put(path("many"), AFTER, "Idempotency-Key", "first");
    assertThat(retry.status()).isEqualTo(201);
    assertThat(retry.header("ETag")).isEqualTo(first.header("ETag"));
    assertThat(running.get(path("many")).header("ETag")).isNotEqualTo(first.header("ETag"));
  }

  @Test
  void aKeyWithAnotherBodyIsRefused() {
    running.put(path("other"), AFTER, "Idempotency-Key", "k");
    assertReused(running.put(path("other"), AFTER.replace("1H", "2H"), "Idempotency-Key", "k"));
    assertThat(running.put(path("other"), " " + AFTER, "Idempotency-Key", "k").status())
        .as("the same in another form")
        .isEqualTo(201);
    String move = path("other") + ":move";
    running.post(move, "{\"after\":\"PT2H\"}", "Idempotency-Key", "k");
    assertReused(running.post(move, "{\"after\":\"PT3H\"}", "Idempotency-Key", "k"));
    String cancel = "/v1/namespaces/other/timers:cancel";
    running.post(cancel, "{\"filter\":{},\"force\":true}", "Idempotency-Key", "k");
    assertReused(running.post(cancel, "{\"filter\":{},\"expect\":0}", "Idempotency-Key", "k"));
  }

  private static void assertReused(Answer answer) {
    assertThat(answer.status()).isEqualTo(422);
    assertThat(answer.text("type")).endsWith(":idempotency_key_reused");
    assertThat(answer.text("field")).isEqualTo("Idempotency-Key");
  }

  @Test
  void aBatchAnswersEachItemAsTheFirstTime() {
    String batch = "/v1/namespaces/batch/timers:batch";
    String item = "{\"id\":\"a\"," + AFTER.substring(1);
    String both = "{\"timers\":[" + item + "," + item + "]}";
    Answer first = running.post(batch, both, "Idempotency-Key", "k");
    assertThat(first.json().at("/results/0/status").asInt()).isEqualTo(201);
    assertThat(first.json().at("/results/1/status").asInt()).isEqualTo(200);
    Answer retry = running.post(batch, both, "Idempotency-Key", "k");
    assertThat(retry.json()).isEqualTo(first.json());
    for (String other :
        List.of(
            "{\"timers\":[" + item + "," + item.replace("1H", "2H") + "]}",
            "{\"timers\":[" + item + "]}",
            both.replace("\"a\"", "\"b\""),
            both.replace("\"q\"", "7"))) {
      assertReused(running.post(batch, other, "Idempotency-Key", "k"));
    }
    assertThat(running.scheduler.timer("batch", "b").get()).isEmpty();
    assertThat(running.post(batch, both.replace(",", ", "), "Idempotency-Key", "k").json())
        .as("the same in another form")
        .isEqualTo(first.json());
  }
}
