// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.standardwebhooks.Webhook;
import io.timewheel.server.Receiver.Call;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Kills a server process while it waits for the answer of a target. */
class WebhookKillTest {
  @TempDir private Path directory;
  private final Programs programs = new Programs();
  private final Receiver receiver = new Receiver();
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void stop() {
    programs.close();
    receiver.close();
  }

  private Process serve() throws Exception {
    return programs.run(
        Map.of("TIMEWHEEL_WEBHOOK_SECRETS", directory.resolve("secrets").toString()),
        "serve",
        "--port",
        "0",
        "--data",
        directory.resolve("data").toString(),
        "--allow-target",
        "127.0.0.1");
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), BodyHandlers.ofString());
  }

  @Test
  void aCallInterruptedByAKillIsRepeatedUnderTheSameId() throws Exception {
    Running.secrets(directory, "shop");
    CountDownLatch never = new CountDownLatch(1);
    receiver.answering = exchange -> never.await();
    Process killed = serve();
    String path = "/v1/namespaces/shop/timers/a";
    HttpRequest.Builder put =
        HttpRequest.newBuilder(URI.create(Programs.address(killed, "127.0.0.1") + path))
            .header("Content-Type", "application/json")
            .PUT(
                BodyPublishers.ofString(
                    """
                    {"after":"PT0S","payload":{"order":42},
                     "target":{"url":"%s","secret":"shop","timeout":"PT1M"}}
                    """
                        .formatted(receiver.url("/"))));
    assertThat(send(put).statusCode()).isEqualTo(201);
    Call first = receiver.calls.take();
    killed.destroyForcibly().waitFor();

    receiver.answering = Receiver.status(204);
    URI timer = URI.create(Programs.address(serve(), "127.0.0.1") + path);
    Call second = receiver.calls.take();
    assertThat(second.header("webhook-id")).isEqualTo(first.header("webhook-id"));
    assertThat(second.header("timewheel-attempt")).isEqualTo("2");
    assertThat(second.body()).isEqualTo(first.body()).isEqualTo("{\"order\":42}");
    new Webhook(WebhooksTest.SECRET).verify(second.body(), second.headers());

    String state = "running";
    JsonNode shown = null;
    while (state.equals("running")) {
      shown = Running.MAPPER.readTree(send(HttpRequest.newBuilder(timer)).body());
      state = shown.get("state").asString();
    }
    assertThat(state).isEqualTo("completed");
    assertThat(shown.get("attempts")).hasSize(2);
    assertThat(receiver.calls).isEmpty();
  }
}
