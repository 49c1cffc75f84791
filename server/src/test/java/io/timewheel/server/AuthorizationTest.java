// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Running.Answer;
import io.timewheel.server.security.Role;
import io.timewheel.server.security.Tokens;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may do what: every route, asked by everyone. */
class AuthorizationTest {
  private static final String AT = "{\"at\":\"2099-01-01T00:00:00Z\",\"target\":{\"queue\":\"q\"}}";
  private static final String TIMER = "/v1/namespaces/{ns}/timers/{id}";
  private static final String TIMERS = "/v1/namespaces/{ns}/timers";
  private static final String FIRING = "/v1/namespaces/{ns}/firings/{fireId}";
  private static final String LEASE = "{\"leaseToken\":\"00000000000000000000000000000000\"}";
  private static final String FILTER = "{\"filter\":{},\"expect\":-1}";

  /** A route, what it asks of its caller, a body for it, and its status for whoever may. */
  private record Row(String method, String pattern, Role role, String body, int status) {
    String name() {
      return method + " " + pattern;
    }
  }

  private static final List<Row> MATRIX =
      List.of(
          new Row("GET", "/healthz", Role.OPEN, null, 200),
          new Row("GET", "/readyz", Role.OPEN, null, 200),
          new Row("GET", "/", Role.OPEN, null, 200),
          new Row("GET", "/console/{file}", Role.OPEN, null, 200),
          new Row("PUT", TIMER, Role.WRITE, AT, 201),
          new Row("GET", TIMER, Role.READ, null, 404),
          new Row("DELETE", TIMER, Role.WRITE, null, 404),
          new Row("POST", TIMER + ":run", Role.WRITE, null, 404),
          new Row("POST", TIMER + ":pause", Role.WRITE, null, 404),
          new Row("POST", TIMER + ":resume", Role.WRITE, null, 404),
          new Row("POST", TIMER + ":retry", Role.WRITE, null, 404),
          new Row("POST", TIMER + ":move", Role.WRITE, "{\"after\":\"PT1H\"}", 404),
          new Row("GET", TIMERS, Role.READ, null, 200),
          new Row("GET", "/v1/namespaces/{ns}/histogram", Role.READ, null, 200),
          new Row("POST", TIMERS + ":batch", Role.WRITE, "{\"timers\":[{}]}", 200),
          new Row("POST", TIMERS + ":cancel", Role.WRITE, FILTER, 409),
          new Row("POST", TIMERS + ":pause", Role.WRITE, FILTER, 409),
          new Row("POST", TIMERS + ":resume", Role.WRITE, FILTER, 409),
          new Row("POST", TIMERS + ":retry", Role.WRITE, FILTER, 409),
          new Row(
              "POST",
              "/v1/namespaces/{ns}/queues/{queue}/firings:claim",
              Role.WRITE,
              "{\"wait\":\"PT0S\"}",
              200),
          new Row("POST", FIRING + ":ack", Role.WRITE, LEASE, 404),
          new Row("POST", FIRING + ":nack", Role.WRITE, LEASE, 404),
          new Row("POST", FIRING + ":extend", Role.WRITE, LEASE, 404),
          new Row("GET", "/v1/namespaces", Role.READ, null, 200),
          new Row("GET", "/v1/stats", Role.READ, null, 200),
          new Row("GET", "/v1/wheel", Role.READ, null, 200),
          new Row("GET", "/v1/cluster", Role.READ, null, 200),
          new Row("GET", "/v1/events", Role.READ, null, 200),
          new Row("POST", "/v1/backups", Role.ADMIN, null, 409), // timers in memory
          new Row("GET", "/metrics", Role.READ, null, 200),
          new Row("GET", "/openapi.json", Role.READ, null, 200));

  @TempDir private static Path directory;
  private static Running running;
  private static String read;
  private static String write;
  private static String admin;
  private static String shop;

  @BeforeAll
  static void start() throws IOException {
    Path file = directory.resolve("tokens");
    read = Tokens.add(file, "read", "read", Set.of());
    write = Tokens.add(file, "write", "write", Set.of());
    admin = Tokens.add(file, "admin", "admin", Set.of());
    shop = Tokens.add(file, "shop", "admin", Set.of("shop"));
    running = new Running(config -> config, Tokens.open(file));
  }

  @AfterAll
  static void stop() {
    running.close();
  }

  private static List<String> routes() {
    return running.server.routes().stream()
        .map(route -> route.method() + " " + route.pattern())
        .toList();
  }

  static Stream<Row> matrix() {
    return MATRIX.stream();
  }

  @Test
  void everyRouteHasARow() {
    assertThat(MATRIX).extracting(Row::name).containsExactlyInAnyOrderElementsOf(routes());
  }

  @ParameterizedTest
  @MethodSource("matrix")
  void everyRouteLetsInWhomItShould(Row row) throws Exception {
    boolean open = row.role == Role.OPEN;
    boolean reads = row.role == Role.READ;
    boolean everywhere = !row.pattern.contains("{ns}");
    if (row.pattern.equals("/v1/backups")) { // what holds all namespaces is for whom sees all
      assertThat(status(row, "own", "shop", shop)).isEqualTo(403);
      everywhere = false;
    } else {
      assertThat(status(row, "own", "shop", shop)).isEqualTo(row.status);
    }
    assertThat(status(row, "no-token", "shop")).isEqualTo(open ? row.status : 401);
    assertThat(status(row, "bad-token", "shop", "tw_" + "0".repeat(43)))
        .isEqualTo(open ? row.status : 401);
    assertThat(status(row, "read", "shop", read)).isEqualTo(open || reads ? row.status : 403);
    assertThat(status(row, "write", "shop", write))
        .isEqualTo(row.role == Role.ADMIN ? 403 : row.status);
    assertThat(status(row, "admin", "shop", admin)).isEqualTo(row.status);
    assertThat(status(row, "other", "other", shop)).isEqualTo(everywhere ? row.status : 403);
    assertThat(status(row, "encoded", "%6Fther", shop)).isEqualTo(everywhere ? row.status : 403);
  }

  /** The answer's head is enough: some never end. */
  private static int status(Row row, String caller, String namespace, String... tokens)
      throws Exception {
    String path =
        row.pattern
            .replace("{ns}", namespace)
            .replace("{id}", row.method.equals("PUT") ? caller : "none")
            .replace("{file}", "main.js")
            .replace("{queue}", "q")
            .replace("{fireId}", "none");
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + running.server.port() + path))
            .header("Content-Type", "application/json");
    for (String token : tokens) {
      request.header("Authorization", "Bearer " + token);
    }
    HttpResponse<InputStream> answer =
        running.client.send(
            request
                .method(
                    row.method,
                    row.body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(row.body))
                .build(),
            BodyHandlers.ofInputStream());
    answer.body().close();
    return answer.statusCode();
  }

  @Test
  void refusalsSayHowToDoBetter() {
    Answer none = running.get("/v1/stats");
    assertThat(none.header("WWW-Authenticate")).isEqualTo("Bearer realm=\"timewheel\"");
    assertThat(none.text("type")).isEqualTo("urn:timewheel:problem:unauthorized");
    assertThat(running.get("/v1/stats", "Authorization", "Bearer x").header("WWW-Authenticate"))
        .isEqualTo("Bearer realm=\"timewheel\", error=\"invalid_token\"");
    Answer forbidden =
        running.put("/v1/namespaces/shop/timers/a", AT, "Authorization", "Bearer " + read);
    assertThat(forbidden.status()).isEqualTo(403);
    assertThat(forbidden.text("detail")).contains("write");
  }

  @Test
  void whatIsNotThereIsNotShownToStrangers() {
    assertThat(running.get("/v1/nothing").status()).isEqualTo(401);
    assertThat(running.send("PATCH", "/v1/stats", null).status()).isEqualTo(401);
    assertThat(running.get("/v1/nothing", "Authorization", "Bearer " + read).status())
        .isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Bearer",
        "Bearer ",
        "Basic {token}",
        "{token}",
        "Bearer {token}x",
        "Bearer x{token}",
        "Bearer {token}, Bearer {token}",
        "Bearer {token} {token}",
        "Bearer \"{token}\"",
        "Token {token}",
        "Bearer {token}="
      })
  void anOddHeaderIs401(String header) {
    String shown = header.replace("{token}", read);
    assertThat(
            running.raw(
                "GET /v1/stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    + "Authorization: "
                    + shown
                    + "\r\n\r\n"))
        .startsWith("HTTP/1.1 401 ")
        .doesNotContain(read);
  }

  @Test
  void twoTokensAre401() {
    String line = "Authorization: Bearer " + read + "\r\n";
    assertThat(
            running.raw(
                "GET /v1/stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    + line
                    + line
                    + "\r\n"))
        .startsWith("HTTP/1.1 401 ");
  }

  @Test
  void aTokenInTheAddressIsNone() {
    for (String name : new String[] {"token", "access_token", "authorization"}) {
      assertThat(running.get("/v1/stats?" + name + "=" + read).status()).isEqualTo(401);
    }
    assertThat(running.get("/v1/stats", "Cookie", "token=" + read).status()).isEqualTo(401);
  }

  @Test
  void theSchemeMayBeWrittenAsOneLikes() {
    assertThat(running.get("/v1/stats", "Authorization", "bearer  " + read).status())
        .isEqualTo(200);
  }

  @Test
  void aPageTokenOfAnotherNamespaceIsRefused() {
    String all = "Bearer " + admin;
    running.put("/v1/namespaces/aside/timers/hidden1", AT, "Authorization", all);
    running.put("/v1/namespaces/aside/timers/hidden2", AT, "Authorization", all);
    String page =
        running
            .get("/v1/namespaces/aside/timers?pageSize=1", "Authorization", all)
            .text("nextPageToken");
    Answer list =
        running.get(
            "/v1/namespaces/shop/timers?pageToken=" + page, "Authorization", "Bearer " + shop);
    assertThat(list.status()).isEqualTo(400);
    assertThat(list.response().body()).doesNotContain("hidden");
  }

  @Test
  void aTokenSeesItsNamespacesOnly() {
    String all = "Bearer " + admin;
    running.put("/v1/namespaces/shop/timers/seen", AT, "Authorization", all);
    running.put("/v1/namespaces/secret/timers/hidden", AT, "Authorization", all);
    String own = "Bearer " + shop;
    List<String> names = new ArrayList<>();
    running
        .get("/v1/namespaces", "Authorization", own)
        .json()
        .get("namespaces")
        .forEach(each -> names.add(each.get("namespace").asString()));
    assertThat(names).containsExactly("shop");
    assertThat(running.get("/v1/namespaces", "Authorization", all).response().body())
        .contains("secret");
    Answer stats = running.get("/v1/stats?namespace=secret", "Authorization", own);
    assertThat(stats.status()).isEqualTo(403);
  }
}
