// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.TimerSpec;
import io.timewheel.server.Running.Answer;
import io.timewheel.server.security.Tokens;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a token that is revoked while it is in use. */
class RevokedTokenTest {
  private static final String CLAIM = "/v1/namespaces/shop/queues/q/firings:claim";

  @TempDir private Path directory;
  private Path file;
  private String revoked;
  private String kept;
  private String admin;
  private Running running;

  @BeforeEach
  void start() throws IOException {
    file = directory.resolve("tokens");
    revoked = Tokens.add(file, "revoked", "read,consume", Set.of());
    kept = Tokens.add(file, "kept", "read,consume", Set.of());
    admin = Tokens.add(file, "admin", "admin", Set.of());
    running = new Running(config -> config, Tokens.open(file));
  }

  @AfterEach
  void stop() {
    running.close();
  }

  private void revoke() throws IOException {
    List<String> lines = Files.readAllLines(file);
    Files.write(file, lines.subList(1, 2));
  }

  @Test
  void aRemovedFileIsReportedAndRevokesAllTokensAfterTheGrace() throws IOException {
    AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    try (Running other =
        new Running(config -> config, Tokens.open(file, Duration.ofMinutes(1), now::get))) {
      assertThat(other.get("/readyz").status()).isEqualTo(200);
      Files.delete(file);

      assertThat(other.get("/readyz").text("detail"))
          .isEqualTo("the file of tokens cannot be read");
      String bearer = "Bearer " + admin;
      assertThat(other.get("/metrics", "Authorization", bearer).response().body())
          .contains("timewheel_tokens_readable 0.0");
      now.set(now.get().plusSeconds(60));
      assertThat(other.get("/metrics", "Authorization", bearer).status()).isEqualTo(401);
    }
  }

  private HttpRequest.Builder request(String path, String token) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + running.server.port() + path))
        .header("Content-Type", "application/json")
        .header("Authorization", "Bearer " + token);
  }

  @Test
  void isRefusedOnAConnectionThatItHasUsed() throws IOException {
    assertThat(running.get("/v1/stats", "Authorization", "Bearer " + revoked).status())
        .isEqualTo(200);
    revoke();
    assertThat(running.get("/v1/stats", "Authorization", "Bearer " + revoked).status())
        .isEqualTo(401);
    assertThat(running.get("/v1/stats", "Authorization", "Bearer " + kept).status()).isEqualTo(200);
  }

  @Test
  void endsItsEventStreamsAndNoOthers() throws Exception {
    try (InputStream mine = events(revoked);
        InputStream others = events(kept)) {
      revoke();
      assertThat(mine.readAllBytes()).isNotEmpty(); // until its end
      assertThat(running.server.openStreams()).isEqualTo(1);
      assertThat(others.read()).isNotNegative();
    }
  }

  private InputStream events(String token) throws Exception {
    HttpResponse<InputStream> answer =
        running.client.send(request("/v1/events", token).build(), BodyHandlers.ofInputStream());
    assertThat(answer.statusCode()).isEqualTo(200);
    return answer.body();
  }

  @Test
  void returnsNothingForAClaimThatWaits() throws Exception {
    var waiting =
        running.client.sendAsync(
            request(CLAIM, revoked).POST(BodyPublishers.ofString("{\"wait\":\"PT1M\"}")).build(),
            BodyHandlers.ofString());
    Await.until(() -> running.server.waitingClaims() == 1);
    revoke();

    running.scheduler.schedule(TimerSpec.of("shop", "a").at(running.scheduler.now()).queue("q"));

    assertThat(waiting.join().statusCode()).isEqualTo(401);
    assertThat(waiting.join().headers().firstValue("WWW-Authenticate")).isPresent();
    Answer others = running.post(CLAIM, "{\"wait\":\"PT1M\"}", "Authorization", "Bearer " + kept);
    assertThat(others.json().at("/firings/0/id").asString()).isEqualTo("a");
    assertThat(others.json().at("/firings/0/attempt").asInt()).isEqualTo(1);
  }
}
