// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Receiver.Call;
import io.timewheel.server.Running.Answer;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.webhook.AddressPolicy;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the trace from the request that schedules a timer to the consumer and the webhook. */
class TraceTest {
  private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  private static final String OTHER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  private static final String TIMERS = "/v1/namespaces/ns/timers";
  private static final String QUEUE =
      "{\"at\":\"2026-01-01T00:00:00Z\",\"target\":{\"queue\":\"q\"}}";

  @TempDir private static Path directory;

  private final Running running =
      new Running(
          Running.secrets(directory, "shop"),
          AddressPolicy.admitting(List.of(Cidr.parse("127.0.0.0/8"))));

  @AfterEach
  void stop() {
    running.close();
  }

  private String claimed() {
    return running
        .post("/v1/namespaces/ns/queues/q/firings:claim", "{\"wait\":\"PT1M\"}")
        .json()
        .at("/firings/0/headers/traceparent")
        .asString("");
  }

  @Test
  void reachesTheConsumerFromAPutAndABatch() {
    running.put(TIMERS + "/a", QUEUE, "traceparent", TRACE);
    assertThat(claimed()).isEqualTo(TRACE);
    running.post(
        TIMERS + ":batch",
        "{\"timers\":[{\"id\":\"b\"," + QUEUE.substring(1) + "]}",
        "traceparent",
        OTHER);
    assertThat(claimed()).isEqualTo(OTHER);
    running.put(TIMERS + "/c", QUEUE, "traceparent", "malformed");
    assertThat(claimed()).isEmpty();
  }

  @Test
  void reachesTheWebhook() throws Exception {
    try (Receiver receiver = new Receiver()) {
      running.put(
          TIMERS + "/a",
          "{\"after\":\"PT0S\",\"target\":{\"url\":\"%s\",\"secret\":\"shop\"}}"
              .formatted(receiver.url("/")),
          "traceparent",
          TRACE);
      Call call = receiver.calls.take();
      assertThat(call.header("traceparent")).isEqualTo(TRACE);
      assertThat(call.header("timewheel-header-traceparent")).isEqualTo(TRACE);
    }
  }

  @Test
  void theHeaderOfATimerPrecedesThatOfTheRequest() {
    String body = QUEUE.replace("\"target\"", "\"headers\":{\"traceparent\":\"%s\"},\"target\"");
    running.put(TIMERS + "/a", body.formatted(OTHER), "traceparent", TRACE);
    assertThat(claimed()).isEqualTo(OTHER);
  }

  @Test
  void theSameAgainInAnotherTraceChangesNothing() {
    String body = QUEUE.replace("2026", "2099");
    Answer first = running.put(TIMERS + "/a", body, "traceparent", TRACE);
    for (String trace : new String[] {OTHER, "malformed"}) {
      Answer again = running.put(TIMERS + "/a", body, "traceparent", trace);
      assertThat(again.status()).isEqualTo(200);
      assertThat(again.header("ETag")).isEqualTo(first.header("ETag"));
      assertThat(again.json().at("/headers/traceparent").asString()).isEqualTo(TRACE);
    }
    assertThat(running.put(TIMERS + "/a", body.replace("\"q\"", "\"r\"")).header("ETag"))
        .isNotEqualTo(first.header("ETag"));
  }
}
