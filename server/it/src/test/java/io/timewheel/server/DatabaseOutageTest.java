// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.server.Running.Answer;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests a server process whose database is killed, or hangs, while 80 callers send requests. Only
 * this test proves the answers of a whole process during an outage of a real database, and its end
 * while the database hangs. It waits for timeouts of sockets.
 */
@Tag("proof") // waits for timeouts of sockets
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
class DatabaseOutageTest {
  private static final String TIMERS = "/v1/namespaces/shop/timers/";
  private static final String SPEC = "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}";
  private static final int CALLERS = 80;

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private String address = "";

  private CompletableFuture<Answer> send(String method, String path, @Nullable String body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(address + path))
            .header("Content-Type", "application/json")
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
            .build();
    return client.sendAsync(request, BodyHandlers.ofString()).thenApply(Answer::new);
  }

  /** Waits until the new process is ready, then schedules a timer. */
  private void makeFirstTimer() {
    Await.until(() -> status("/readyz") == 200);
    Answer put = send("PUT", TIMERS + "a", SPEC).join();
    assertThat(put.status()).as(put.response().body()).isEqualTo(201);
  }

  private int status(String path) {
    return send("GET", path, null).join().status();
  }

  @ParameterizedTest
  @CsvSource({"postgresql, kill", "postgresql, hang", "mariadb, kill", "mariadb, hang"})
  void probesShowTheOutageAndCallersAreAnswered(String kind, String how) throws Exception {
    boolean hangs = how.equals("hang");
    try (DatabaseServer server =
            kind.equals("mariadb") ? DatabaseServer.mariadb() : DatabaseServer.postgresql();
        Programs programs = new Programs()) {
      server.sync(false).start();
      address = serve(programs, server.createDatabase());
      makeFirstTimer();

      if (hangs) {
        server.suspend();
      } else {
        server.crash();
      }
      long outageNanos = System.nanoTime();
      List<CompletableFuture<Answer>> callers = new ArrayList<>();
      for (int i = 0; i < CALLERS; i += 2) {
        callers.add(send("GET", TIMERS + "a", null));
        callers.add(send("PUT", TIMERS + "b" + i, SPEC));
      }
      double healthSeconds = 0;
      int probes = 0;
      do {
        long askedNanos = System.nanoTime();
        assertThat(status("/healthz")).isEqualTo(200);
        healthSeconds = Math.max(healthSeconds, secondsSince(askedNanos));
        probes++;
      } while (status("/readyz") == 200);
      double readySeconds = secondsSince(outageNanos);
      assertThat(send("GET", "/metrics", null).join().response().body())
          .contains("timewheel_store_available 0.0");
      for (CompletableFuture<Answer> caller : callers) {
        Answer answer = caller.join();
        assertThat(answer.status()).as(answer.response().body()).isEqualTo(503);
        assertThat(answer.header("Retry-After")).isEqualTo("1");
        if (hangs && answer.response().request().method().equals("PUT")) {
          // Before its COMMIT was sent, nothing was changed. After that, the outcome is unknown.
          assertThat(answer.text("detail"))
              .containsAnyOf("nothing was done", "may have been made or not");
        }
      }
      double callerSeconds = secondsSince(outageNanos);

      if (hangs) {
        server.goOn();
      } else {
        server.start();
      }
      long recoveryNanos = System.nanoTime();
      Await.until(() -> status("/readyz") == 200); // until the server has detected it
      System.out.printf(
          "%s, %s: /readyz is 503 after %.1f s, the last of %d callers is answered after %.1f s,"
              + " /healthz took %.3f s at most (%d probes), /readyz is 200 %.1f s after recovery%n",
          kind,
          how,
          readySeconds,
          CALLERS,
          callerSeconds,
          healthSeconds,
          probes,
          secondsSince(recoveryNanos));
      assertThat(send("PUT", TIMERS + "c", SPEC).join().status()).isEqualTo(201);
    }
  }

  /** Prints the time from SIGTERM to the end of the server, which must be less than 20 s. */
  @ParameterizedTest
  @ValueSource(strings = {"postgresql", "mariadb"})
  void aServerEndsWhileItsStoreHangs(String kind) throws Exception {
    try (DatabaseServer server =
            kind.equals("mariadb") ? DatabaseServer.mariadb() : DatabaseServer.postgresql();
        Programs programs = new Programs()) {
      server.sync(false).start();
      Process serve = start(programs, server.createDatabase());
      address = Programs.address(serve, "127.0.0.1");
      makeFirstTimer();
      server.suspend();
      for (int i = 0; i < CALLERS; i++) {
        var unused = send("PUT", TIMERS + "b" + i, SPEC);
      }
      assertThat(status("/healthz")).isEqualTo(200);
      long beganNanos = System.nanoTime();
      serve.destroy();
      int exitCode = serve.waitFor();
      System.out.printf(
          "%s, hang: the server ends %.1f s after SIGTERM, exit code %d%n",
          kind, secondsSince(beganNanos), exitCode);
      assertThat(exitCode).isEqualTo(1);
      server.goOn();
    }
  }

  private static String serve(Programs programs, Database database) throws IOException {
    return Programs.address(start(programs, database), "127.0.0.1");
  }

  private static Process start(Programs programs, Database database) throws IOException {
    return programs.run(
        Map.of("TIMEWHEEL_STORE_PASSWORD", database.password()),
        Redirect.DISCARD,
        "serve",
        "--port",
        "0",
        "--store",
        database.url(),
        "--store-user",
        database.user());
  }

  private static double secondsSince(long nanos) {
    return (System.nanoTime() - nanos) / 1e9;
  }
}
