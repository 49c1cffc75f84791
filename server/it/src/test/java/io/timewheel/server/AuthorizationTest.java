// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Running.Answer;
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
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Tests the permissions: every route, requested with every role. */
class AuthorizationTest {
  private static final String AT = "{\"at\":\"2099-01-01T00:00:00Z\",\"target\":{\"queue\":\"q\"}}";
  private static final String TIMER = "/v1/namespaces/{ns}/timers/{id}";
  private static final String TIMERS = "/v1/namespaces/{ns}/timers";
  private static final String FIRING = "/v1/namespaces/{ns}/firings/{fireId}";
  private static final String FIRINGS = "/v1/namespaces/{ns}/firings";
  private static final String LEASES = "{\"firings\":[{}]}";
  private static final String LEASE = "{\"leaseToken\":\"00000000000000000000000000000000\"}";
  private static final String FILTER = "{\"filter\":{},\"expect\":-1}";

  private static final String OPEN = "";
  private static final String READ = "read operate admin";
  private static final String LOOK_UP = "read produce operate admin";
  private static final String PRODUCE = "produce admin";
  private static final String CHANGE = "produce operate admin";
  private static final String CONSUME = "consume admin";
  private static final String OPERATE = "operate admin";
  private static final String METRICS = "metrics read operate admin";
  private static final String ANY = "metrics read produce consume operate admin";

  /** A route, the roles that may use it, a body for it, and its status for these roles. */
  private record Row(String method, String pattern, String roles, String body, int status) {
    String name() {
      return method + " " + pattern;
    }
  }

  private static final List<Row> MATRIX =
      List.of(
          new Row("GET", "/healthz", OPEN, null, 200),
          new Row("GET", "/readyz", OPEN, null, 200),
          new Row("GET", "/", OPEN, null, 200),
          new Row("GET", "/console/{file}", OPEN, null, 200),
          new Row("PUT", TIMER, PRODUCE, AT, 201),
          new Row("GET", TIMER, LOOK_UP, null, 404),
          new Row("PATCH", TIMER, CHANGE, "{}", 412), // without If-Match
          new Row("DELETE", TIMER, CHANGE, null, 404),
          new Row("POST", TIMER + ":run", OPERATE, null, 404),
          new Row("POST", TIMER + ":pause", OPERATE, null, 404),
          new Row("POST", TIMER + ":resume", OPERATE, null, 404),
          new Row("POST", TIMER + ":retry", OPERATE, null, 404),
          new Row("POST", TIMER + ":move", CHANGE, "{\"after\":\"PT1H\"}", 404),
          new Row("GET", TIMERS, READ, null, 200),
          new Row("GET", "/v1/namespaces/{ns}/histogram", READ, null, 200),
          new Row("POST", TIMERS + ":batch", PRODUCE, "{\"timers\":[{}]}", 200),
          new Row("POST", TIMERS + ":cancel", OPERATE, FILTER, 409),
          new Row("POST", TIMERS + ":pause", OPERATE, FILTER, 409),
          new Row("POST", TIMERS + ":resume", OPERATE, FILTER, 409),
          new Row("POST", TIMERS + ":retry", OPERATE, FILTER, 409),
          new Row(
              "POST",
              "/v1/namespaces/{ns}/queues/{queue}/firings:claim",
              CONSUME,
              "{\"wait\":\"PT0S\"}",
              200),
          new Row("POST", FIRING + ":ack", CONSUME, LEASE, 404),
          new Row("POST", FIRING + ":nack", CONSUME, LEASE, 404),
          new Row("POST", FIRING + ":extend", CONSUME, LEASE, 404),
          new Row("POST", FIRINGS + ":ack", CONSUME, LEASES, 200),
          new Row("POST", FIRINGS + ":nack", CONSUME, LEASES, 200),
          new Row("POST", FIRINGS + ":extend", CONSUME, LEASES, 200),
          new Row("GET", "/v1/namespaces/{ns}/queues", READ, null, 200),
          new Row("POST", "/v1/namespaces/{ns}/queues/{queue}:pause", OPERATE, null, 200),
          new Row("POST", "/v1/namespaces/{ns}/queues/{queue}:resume", OPERATE, null, 200),
          new Row("POST", "/v1/namespaces/{ns}:pause", OPERATE, null, 200),
          new Row("POST", "/v1/namespaces/{ns}:resume", OPERATE, null, 200),
          new Row("POST", "/v1/schedules:preview", LOOK_UP, "{\"after\":\"PT1H\"}", 200),
          new Row("GET", "/v1/namespaces", READ, null, 200),
          new Row("GET", "/v1/stats", READ, null, 200),
          new Row("GET", "/v1/wheel", READ, null, 200),
          new Row("GET", "/v1/cluster", READ, null, 200),
          new Row("GET", "/v1/events", READ, null, 200),
          new Row("GET", "/v1/backups", "admin", null, 409), // timers in memory
          new Row("POST", "/v1/backups", "admin", null, 409), // timers in memory
          new Row("GET", "/metrics", METRICS, null, 200),
          new Row("GET", "/openapi.json", ANY, null, 200));

  @TempDir private static Path directory;
  private static Running running;
  private static final Map<String, String> BY_ROLE = new TreeMap<>();
  private static String read;
  private static String admin;
  private static String shop;

  @BeforeAll
  static void start() throws IOException {
    Path file = directory.resolve("tokens");
    for (String role : ANY.split(" ", -1)) {
      BY_ROLE.put(role, Tokens.add(file, role, role, Set.of()));
    }
    read = BY_ROLE.get("read");
    admin = BY_ROLE.get("admin");
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

  /** The roles that a role includes, as the OpenAPI document describes them. */
  private static final Map<String, String> INCLUDED =
      Map.of(
          "metrics", "metrics",
          "read", "read metrics",
          "produce", "produce",
          "consume", "consume",
          "operate", "operate read metrics",
          "admin", ANY);

  @Test
  void theDocumentListsTheRolesThatEachRouteAdmits() {
    JsonNode paths =
        running.get("/openapi.json", "Authorization", "Bearer " + admin).json().get("paths");
    for (Row row : MATRIX) {
      Set<String> listed = new TreeSet<>();
      JsonNode operation = paths.get(row.pattern).get(row.method.toLowerCase(Locale.ROOT));
      operation.path("x-roles").forEach(role -> listed.add(role.asString()));
      Set<String> letIn = new TreeSet<>(BY_ROLE.keySet());
      letIn.removeIf(role -> Stream.of(INCLUDED.get(role).split(" ")).noneMatch(listed::contains));
      assertThat(letIn)
          .as(row.name())
          .isEqualTo(row.roles.isEmpty() ? Set.of() : new TreeSet<>(List.of(row.roles.split(" "))));
    }
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
  void everyRouteAdmitsTheRightCallers(Row row) throws Exception {
    boolean open = row.roles.isEmpty();
    boolean everywhere = !row.pattern.contains("{ns}");
    if (Set.of("/v1/backups", "/metrics").contains(row.pattern)) { // these show all namespaces
      assertThat(status(row, "own", "shop", shop)).isEqualTo(403);
      everywhere = false;
    } else {
      assertThat(status(row, "own", "shop", shop)).isEqualTo(row.status);
    }
    assertThat(status(row, "no-token", "shop")).isEqualTo(open ? row.status : 401);
    assertThat(status(row, "bad-token", "shop", "tw_" + "0".repeat(43)))
        .isEqualTo(open ? row.status : 401);
    for (String role : BY_ROLE.keySet()) {
      boolean allowed = open || List.of(row.roles.split(" ")).contains(role);
      assertThat(status(row, role, "shop", BY_ROLE.get(role)))
          .as(role)
          .isEqualTo(allowed ? row.status : 403);
    }
    assertThat(status(row, "other", "other", shop)).isEqualTo(everywhere ? row.status : 403);
    assertThat(status(row, "encoded", "%6Fther", shop)).isEqualTo(everywhere ? row.status : 403);
  }

  /** Reads only the head of the answer, because some answers never end. */
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
  void refusalsContainTheRemedy() {
    Answer none = running.get("/v1/stats");
    assertThat(none.header("WWW-Authenticate")).isEqualTo("Bearer realm=\"timewheel\"");
    assertThat(none.text("type")).isEqualTo("urn:timewheel:problem:unauthorized");
    assertThat(running.get("/v1/stats", "Authorization", "Bearer x").header("WWW-Authenticate"))
        .isEqualTo("Bearer realm=\"timewheel\", error=\"invalid_token\"");
    Answer forbidden =
        running.put("/v1/namespaces/shop/timers/a", AT, "Authorization", "Bearer " + read);
    assertThat(forbidden.status()).isEqualTo(403);
    assertThat(forbidden.text("detail")).contains("produce");
  }

  @Test
  void unknownPathsAreNotShownWithoutAToken() {
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
  void aTokenInTheUrlIsIgnored() {
    for (String name : new String[] {"token", "access_token", "authorization"}) {
      assertThat(running.get("/v1/stats?" + name + "=" + read).status()).isEqualTo(401);
    }
    assertThat(running.get("/v1/stats", "Cookie", "token=" + read).status()).isEqualTo(401);
  }

  @Test
  void theSchemeIgnoresCase() {
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
