// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerState;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.testing.Await;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Tests the errors of handlers and stores that the API returns. */
class ErrorTextTest {
  private static final class OwnException extends Exception {
    private static final long serialVersionUID = 1;

    OwnException(String message) {
      super(message);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "no luck: at all | no luck: at all",
        "null | the handler failed, and gave no reason",
      })
  void anErrorOfAHandlerNamesNoClass(String message, String shown) throws Exception {
    String thrown = message.equals("null") ? null : message;
    try (TimewheelServer server = TimewheelServer.start(ServerConfig.loopback(0));
        DurableTimer scheduler =
            DurableTimer.builder(server.watch("memory", InMemoryTimerStore.create()))
                .handler(
                    "h",
                    firing -> {
                      throw new OwnException(thrown);
                    })
                .start()) {
      server.serve(scheduler);
      scheduler.schedule(
          TimerSpec.of("ns", "a")
              .handler("h")
              .retry(new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1)))
              .after(Duration.ZERO));
      Await.until(
          () -> scheduler.timer("ns", "a").get().orElseThrow().state() == TimerState.FAILED);
      URI uri = URI.create("http://127.0.0.1:" + server.port() + "/v1/namespaces/ns/timers/a");
      JsonNode answer =
          Running.MAPPER.readTree(
              HttpClient.newHttpClient()
                  .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
                  .body());
      assertThat(answer.get("lastError").asString()).isEqualTo(shown);
      assertThat(answer.at("/attempts/0/error").asString()).isEqualTo(shown);
      assertThat(answer.get("lastTrace").asString())
          .startsWith(OwnException.class.getName())
          .contains("\n\tat " + ErrorTextTest.class.getName());
    }
  }

  @Test
  void anErrorOfAConsumerIsReturnedUnchanged() {
    try (Running running = new Running()) {
      running.put(
          "/v1/namespaces/ns/timers/a",
          "{\"after\":\"PT0S\",\"target\":{\"queue\":\"q\"},\"retry\":{\"maxAttempts\":1}}");
      JsonNode firing =
          running
              .post("/v1/namespaces/ns/queues/q/firings:claim", "{\"wait\":\"PT1M\"}")
              .json()
              .at("/firings/0");
      running.post(
          "/v1/namespaces/ns/firings/" + firing.get("fireId").asString() + ":nack",
          "{\"leaseToken\":\"%s\",\"error\":\"java.io.IOException: x\"}"
              .formatted(firing.get("leaseToken").asString()));
      assertThat(running.get("/v1/namespaces/ns/timers/a").text("lastError"))
          .isEqualTo("java.io.IOException: x");
    }
  }

  @Test
  void anErrorOfTheStoreIsForTheLog() {
    Problem problem =
        Problem.of(
            new DurableTimerException(
                DurableTimerException.Reason.REJECTED,
                0,
                "/var/lib/timewheel: org.rocksdb.RocksDBException: Corruption",
                null));
    assertThat(problem.status()).isEqualTo(422);
    assertThat(problem.detail()).doesNotContain("rocksdb").doesNotContain("/var");
    assertThat(problem.cause()).isNotNull();
  }
}
