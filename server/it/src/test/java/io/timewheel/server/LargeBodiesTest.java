// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.security.Tokens;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the bodies of many clients do not fill the heap of a server process. Only this test
 * verifies the memory that bodies become. It takes about 30 s.
 */
@Tag("proof") // server processes
@Timeout(300)
class LargeBodiesTest {
  private static final String JSON = "application/json";
  private static final String PATCH = "application/merge-patch+json";
  private static final String REST = "\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}";

  @TempDir private Path directory;
  private final Programs programs = new Programs("-Xmx256m", "-XX:+ExitOnOutOfMemoryError");
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final List<String> tokens = new ArrayList<>();
  private Process server;
  private String shop;

  @BeforeEach
  void start() throws IOException {
    Path file = directory.resolve("tokens");
    for (int i = 0; i < 12; i++) {
      tokens.add(Tokens.add(file, "client" + i, "produce,consume", Set.of()));
    }
    server =
        programs.run(
            Map.of(),
            Redirect.DISCARD,
            "serve",
            "--port",
            "0",
            "--tokens",
            file.toString(),
            "--data",
            directory.resolve("data").toString());
    shop = Programs.address(server, "127.0.0.1") + "/v1/namespaces/shop";
  }

  @AfterEach
  void stop() {
    programs.close();
  }

  private CompletableFuture<Integer> send(
      String method, String path, String type, byte[] body, int number) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(shop + path))
            .timeout(Duration.ofMinutes(2)) // a server without memory may never answer
            .header("Content-Type", type)
            .header("If-Match", "*")
            .header("Authorization", "Bearer " + tokens.get(number % tokens.size()))
            .method(method, BodyPublishers.ofByteArray(body))
            .build();
    return client.sendAsync(request, BodyHandlers.discarding()).thenApply(a -> a.statusCode());
  }

  /** {@return the statuses of requests that are sent at the same time} */
  private Set<Integer> sendAll(String method, String path, String type, String body, int count) {
    byte[] bytes = body.getBytes(UTF_8);
    List<CompletableFuture<Integer>> all =
        IntStream.range(0, count)
            .mapToObj(number -> send(method, path, type, bytes, number))
            .toList();
    return all.stream().map(CompletableFuture::join).collect(Collectors.toCollection(TreeSet::new));
  }

  private static String batch(String item, int count) {
    return "{\"timers\":[" + String.join(",", Collections.nCopies(count, item)) + "]}";
  }

  /** One payload fills each batch, with a character that a Latin-1 text cannot contain. */
  @Test
  void batchesOfOneLargePayload() {
    String payload = "€" + "x".repeat(16_600_000);
    String body = batch("{\"id\":\"a\",\"payload\":\"" + payload + "\"," + REST, 1);
    for (int round = 0; round < 3; round++) {
      Set<Integer> statuses = sendAll("POST", "/timers:batch", JSON, body, 12);
      assertThat(statuses).contains(200).isSubsetOf(200, 503);
    }
    assertThat(server.isAlive()).isTrue();
  }

  /** Headers with different names take many times the memory of their text. */
  @Test
  void batchesOfManyHeaders() {
    String items =
        IntStream.range(0, 800)
            .mapToObj(
                item ->
                    IntStream.range(100 * item, 100 * item + 100)
                        .mapToObj("\"%x\":\"1\""::formatted)
                        .collect(
                            Collectors.joining(",", "{\"id\":\"a\",\"headers\":{", "}," + REST)))
            .collect(Collectors.joining(","));
    Set<Integer> statuses = sendAll("POST", "/timers:batch", JSON, batch(items, 1), 64);
    assertThat(statuses).contains(200).isSubsetOf(200, 503);
    assertThat(server.isAlive()).isTrue();
  }

  @Test
  void changesOfOneTimer() {
    assertThat(sendAll("POST", "/timers:batch", JSON, batch("{\"id\":\"a\"," + REST, 1), 1))
        .containsExactly(200);

    String objects = "[" + "{},".repeat(87_000) + "{}]";
    String names =
        IntStream.range(0, 30_000)
            .mapToObj(number -> "\"%x\":1".formatted(number))
            .collect(Collectors.joining(",", "{", "}"));
    String nested = "{\"a\":".repeat(60) + "0" + "}".repeat(60);
    String deep =
        IntStream.range(0, 170)
            .mapToObj(number -> "\"%x\":%s".formatted(number, nested))
            .collect(Collectors.joining(",", "{", "}"));
    for (int round = 0; round < 3; round++) {
      assertThat(sendAll("PATCH", "/timers/a", PATCH, "{\"payload\":" + objects + "}", 64))
          .containsExactly(413);
      assertThat(sendAll("PATCH", "/timers/a", PATCH, "{\"x\":" + objects + "}", 64))
          .containsExactly(400);
      assertThat(sendAll("PATCH", "/timers/a", PATCH, "{\"payload\":" + deep + "}", 64))
          .isSubsetOf(200, 412, 503);
      assertThat(sendAll("PUT", "/timers/a", JSON, "{\"payload\":" + names + "," + REST, 64))
          .containsExactly(413);
    }
    assertThat(server.isAlive()).isTrue();
  }
}
