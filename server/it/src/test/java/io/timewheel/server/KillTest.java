// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.testing.Await;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Kills the server process many times while clients create, cancel and claim timers. */
@Tag("proof")
@Timeout(value = 15, unit = TimeUnit.MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
class KillTest {
  private static final int KILLS = 4;
  private static final int MAKERS = 3;
  private static final int CONSUMERS = 3;

  /** The minimum number of timers of each client that are committed before the next kill. */
  private static final int TIMERS_A_ROUND = 150;

  private static final String TIMER =
      "{\"after\":\"%s\",\"target\":{\"queue\":\"q\"},\"retry\":{\"maxAttempts\":1000,\"backoff\":\"PT0.01S\"}}";

  @TempDir private Path directory;
  private final Programs programs = new Programs();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final ExecutorService clients = Executors.newCachedThreadPool();

  private final AtomicInteger ids = new AtomicInteger();
  private final Set<String> made = ConcurrentHashMap.newKeySet();
  private final Set<String> cancelled = ConcurrentHashMap.newKeySet();
  private final Set<String> claimed = ConcurrentHashMap.newKeySet();
  private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
  private final Set<String> againAfterTheirEnd = ConcurrentHashMap.newKeySet();
  private volatile String address;
  private volatile boolean down;
  private volatile boolean making = true;
  private volatile boolean consuming = true;

  @AfterEach
  void stop() {
    making = false;
    consuming = false;
    programs.close();
    clients.shutdownNow();
  }

  private Process serve() throws IOException {
    Process server =
        programs.run(
            Map.of(),
            Redirect.appendTo(errors().toFile()),
            "serve",
            "--port",
            "0",
            "--data",
            directory.resolve("data").toString(),
            "--audit-log",
            directory.resolve("audit").toString());
    address = Programs.address(server, "127.0.0.1");
    return server;
  }

  private Path errors() {
    return directory.resolve("errors");
  }

  private HttpResponse<String> send(String method, String path, String body)
      throws IOException, InterruptedException {
    return client.send(
        HttpRequest.newBuilder(URI.create(address + "/v1/namespaces/shop" + path))
            .timeout(Duration.ofMinutes(2))
            .header("Content-Type", "application/json")
            .method(method, BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  private synchronized void await(BooleanSupplier so) throws InterruptedException {
    while (!so.getAsBoolean()) {
      wait();
    }
  }

  private synchronized void changed() {
    notifyAll();
  }

  private static boolean isDone(HttpResponse<String> answer) {
    return answer.statusCode() / 100 == 2;
  }

  /** Creates timers that are due at once, and later ones, which it cancels. */
  private void make() throws InterruptedException {
    while (making) {
      int number = ids.incrementAndGet();
      String id = "t" + number;
      boolean cancels = number % 5 == 0;
      String after = cancels ? "PT3S" : "PT0.05S";
      try {
        String body = TIMER.formatted(after);
        if (isDone(send("PUT", "/timers/" + id, body))) {
          if (!cancels) {
            made.add(id);
            changed();
          } else if (send("DELETE", "/timers/" + id, "").body().contains("\"cancelled\"")) {
            cancelled.add(id);
          }
        }
      } catch (IOException e) {
        await(() -> !down);
      }
    }
  }

  private void consume() throws InterruptedException {
    while (consuming) {
      Set<String> before = Set.copyOf(acknowledged);
      try {
        HttpResponse<String> answer =
            send(
                "POST",
                "/queues/q/firings:claim",
                "{\"max\":5,\"wait\":\"PT0.2S\",\"leaseDuration\":\"PT2S\"}");
        if (isDone(answer)) {
          for (JsonNode firing : Running.MAPPER.readTree(answer.body()).get("firings")) {
            end(firing, before);
          }
        }
      } catch (IOException e) {
        await(() -> !down);
      }
    }
  }

  /** Ends a firing. {@code before} are the firings that had ended when it was claimed. */
  private void end(JsonNode firing, Set<String> before) throws IOException, InterruptedException {
    String id = firing.get("id").asString();
    if (before.contains(id)) {
      againAfterTheirEnd.add(id);
    }
    claimed.add(id);
    String lease = "{\"leaseToken\":\"" + firing.get("leaseToken").asString() + "\"}";
    if (isDone(send("POST", "/firings/" + firing.get("fireId").asString() + ":ack", lease))) {
      acknowledged.add(id);
    }
  }

  @Test
  void committedTimersSurviveEveryKill() throws Exception {
    Process server = serve();
    List<Future<?>> makers = new ArrayList<>();
    for (int i = 0; i < MAKERS; i++) {
      makers.add(clients.submit(() -> uninterrupted(this::make)));
    }
    List<Future<?>> consumers = new ArrayList<>();
    for (int i = 0; i < CONSUMERS; i++) {
      consumers.add(clients.submit(() -> uninterrupted(this::consume)));
    }
    for (int kill = 0; kill < KILLS; kill++) {
      int enough = made.size() + TIMERS_A_ROUND;
      await(() -> made.size() >= enough);
      down = true;
      server.destroyForcibly().waitFor();
      server = serve();
      down = false;
      changed();
    }
    making = false;
    for (Future<?> maker : makers) {
      maker.get();
    }
    // Firings of a killed server return after their claim lease expires.
    Await.until(() -> !hasUnfinished());
    consuming = false;
    for (Future<?> consumer : consumers) {
      consumer.get();
    }
    assertThat(claimed).as("acknowledged, and fired").containsAll(made);
    assertThat(claimed).as("cancelled, and fired").doesNotContainAnyElementsOf(cancelled);
    assertThat(againAfterTheirEnd).as("fired again after their end").isEmpty();
    assertThat(cancelled).isNotEmpty();
    for (String id : cancelled) {
      assertThat(send("GET", "/timers/" + id, "").body()).contains("\"state\":\"cancelled\"");
    }
    server.destroy();
    assertThat(server.waitFor()).isZero();
    assertThat(errors()).content().doesNotContain(" ERROR ");
  }

  private boolean hasUnfinished() throws IOException, InterruptedException {
    HttpResponse<String> answer = send("GET", "/timers?pageSize=1", "");
    return !Running.MAPPER.readTree(answer.body()).get("timers").isEmpty();
  }

  private interface Work {
    void run() throws InterruptedException;
  }

  private static void uninterrupted(Work work) {
    try {
      work.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
