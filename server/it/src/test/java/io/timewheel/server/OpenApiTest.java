// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.server.Running.Answer;
import io.timewheel.server.http.Route;
import io.timewheel.server.json.Json;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.webhook.AddressPolicy;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Compares the OpenAPI document with the server, in both directions. Only this class verifies that
 * the document is complete and true.
 */
class OpenApiTest {
  private static final String TIMERS = "/v1/namespaces/{ns}/timers";
  private static final String TIMER = TIMERS + "/{id}";
  private static final String FIRING = "/v1/namespaces/{ns}/firings/{fireId}";
  private static final String CLAIM = "/v1/namespaces/{ns}/queues/{queue}/firings:claim";
  private static final String AT =
      "{\"at\":\"2099-01-01T00:00:00Z\",\"target\":{\"queue\":\"later\"},\"headers\":{\"h\":\"v\"}}";
  private static final String WEBHOOK =
      "{\"cron\":\"0 9 * * MON-FRI\",\"zone\":\"Europe/Berlin\",\"payload\":{\"a\":[1]},"
          + "\"target\":{\"url\":\"https://shop.example/\",\"secret\":\"s\",\"timeout\":\"PT5S\",\"headers\":{\"X\":\"y\"}},"
          + "\"retry\":{\"maxAttempts\":3,\"backoff\":\"PT1S\",\"maxBackoff\":\"PT1M\"},\"missed\":\"skip\",\"grace\":\"PT5M\"}";
  private static final String ONCE =
      "{\"after\":\"PT0S\",\"target\":{\"queue\":\"now\"},\"retry\":{\"maxAttempts\":1}}";

  @TempDir private static Path directory;

  private final Running running =
      new Running(Running.secrets(directory, "s"), AddressPolicy.admitting(List.of()));
  private final JsonNode document = running.get("/openapi.json").json();
  private final Schemas schemas = new Schemas(document);

  /** The statuses that each operation returned. */
  private final Map<String, TreeSet<String>> seen = new TreeMap<>();

  @AfterEach
  void stop() {
    running.close();
  }

  private static String operation(String method, String path) {
    return method.toUpperCase(Locale.ROOT) + " " + path;
  }

  private static Set<String> roles(JsonNode operation) {
    Set<String> roles = new TreeSet<>();
    operation.path("x-roles").forEach(role -> roles.add(role.asString()));
    return roles;
  }

  @Test
  void everyRouteIsDocumentedAndNothingElse() {
    Map<String, Set<String>> documented = new TreeMap<>();
    document
        .get("paths")
        .properties()
        .forEach(
            path ->
                path.getValue()
                    .properties()
                    .forEach(
                        method ->
                            documented.put(
                                operation(method.getKey(), path.getKey()),
                                roles(method.getValue()))));
    Map<String, Set<String>> routes = new TreeMap<>();
    for (Route route : running.server.routes()) {
      routes.put(
          operation(route.method(), route.pattern()),
          route.roles().stream().map(Json::name).collect(Collectors.toSet()));
    }
    assertThat(documented).isEqualTo(routes);
  }

  @Test
  void everyIntegerHas64Bits() {
    assertThat(document.findParents("type"))
        .filteredOn(schema -> schema.get("type").asString("").equals("integer"))
        .hasSizeGreaterThan(50)
        .allSatisfy(schema -> assertThat(schema.path("format").asString()).isEqualTo("int64"));
  }

  @Test
  void everyPathDescribesItsVariablesAndEveryOperationHasItsName() {
    TreeSet<String> names = new TreeSet<>();
    for (var path : document.get("paths").properties()) {
      for (var method : path.getValue().properties()) {
        assertThat(names.add(method.getValue().get("operationId").asString())).isTrue();
        TreeSet<String> variables = new TreeSet<>();
        for (JsonNode parameter : method.getValue().path("parameters")) {
          if (schemas.resolve(parameter).get("in").asString().equals("path")) {
            variables.add("{" + schemas.resolve(parameter).get("name").asString() + "}");
          }
        }
        TreeSet<String> inPath = new TreeSet<>(List.of(path.getKey().split("[/:]")));
        inPath.removeIf(part -> !part.startsWith("{"));
        assertThat(variables).as(path.getKey()).isEqualTo(inPath);
      }
    }
  }

  @Test
  void everyOperationHasATagAndEachBodyAnExample() {
    Set<String> tags = new TreeSet<>();
    document.get("tags").forEach(tag -> tags.add(tag.get("name").asString()));
    assertThat(document.at("/servers/0/url").asString()).isEqualTo("http://127.0.0.1:7400");
    for (var path : document.get("paths").properties()) {
      for (var method : path.getValue().properties()) {
        String where = operation(method.getKey(), path.getKey());
        assertThat(method.getValue().get("tags")).as(where).hasSize(1);
        assertThat(tags).as(where).contains(method.getValue().at("/tags/0").asString());
        for (JsonNode content : method.getValue().at("/requestBody/content")) {
          boolean isEmpty =
              content.at("/schema/$ref").asString("").equals("#/components/schemas/Nothing");
          List<JsonNode> examples = new ArrayList<>(content.findValues("value"));
          if (content.has("example")) {
            examples.add(content.get("example"));
          }
          assertThat(examples.isEmpty()).as(where + " has no example").isEqualTo(isEmpty);
          for (JsonNode example : examples) {
            schemas.check(example, content.get("schema"), where + " example");
          }
        }
      }
    }
  }

  @Test
  void noRequiredFieldHasADefault() {
    noRequiredFieldHasADefault(document, "");
  }

  private void noRequiredFieldHasADefault(JsonNode node, String where) {
    for (JsonNode name : node.path("required")) {
      JsonNode property = node.path("properties").path(name.asString());
      assertThat(property.has("default")).as(where + "/" + name.asString()).isFalse();
    }
    if (node.path("required").asBoolean(false)) {
      assertThat(node.path("schema").has("default")).as(where).isFalse();
    }
    node.properties()
        .forEach(each -> noRequiredFieldHasADefault(each.getValue(), where + "/" + each.getKey()));
    for (JsonNode item : node) {
      if (item.isObject()) {
        noRequiredFieldHasADefault(item, where + "/-");
      }
    }
  }

  /** Reads the sources, because the test cannot cause every problem. */
  @Test
  void everyKindOfProblemIsListedAndNoOther() throws IOException {
    Pattern code = Pattern.compile("\\bof\\(\\s*(\\d{3}|status),\\s*\"([a-z_]+)\"");
    Map<String, String> statuses = new TreeMap<>();
    try (Stream<Path> files = Files.walk(Path.of("../app/src/main/java"))) {
      for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        Matcher found = code.matcher(Files.readString(file));
        while (found.find()) {
          statuses.put("urn:timewheel:problem:" + found.group(2), found.group(1));
        }
      }
    }
    JsonNode meanings =
        document.at("/components/schemas/Problem/properties/type/x-enumDescriptions");
    assertThat(statuses).hasSizeGreaterThan(20);
    assertThat(meanings.propertyNames()).containsExactlyElementsOf(statuses.keySet());
    statuses.forEach(
        (type, status) ->
            assertThat(meanings.get(type).asString())
                .as(type)
                .matches((status.equals("status") ? "\\d{3}.*" : status) + ": .*"));
  }

  @Test
  void everyValueWithAMeaningIsInItsEnumeration() {
    assertThat(document.findParents("x-enumDescriptions"))
        .hasSize(3)
        .allSatisfy(
            schema ->
                assertThat(schema.get("x-enumDescriptions").propertyNames())
                    .containsExactlyElementsOf(
                        schema.get("enum").valueStream().map(JsonNode::asString).toList()));
  }

  @Test
  void everyParameterSchemaAndFieldHasADescription() {
    for (JsonNode holder : document.findParents("in")) {
      hasDescription(holder, "parameter " + holder.get("name"));
    }
    document
        .at("/components/schemas")
        .properties()
        .forEach(schema -> hasDescription(schema.getValue(), schema.getKey()));
    everyFieldHasADescription(document.at("/components/schemas"), "");
  }

  private static void everyFieldHasADescription(JsonNode node, String where) {
    node.path("properties")
        .properties()
        .forEach(field -> hasDescription(field.getValue(), where + "/" + field.getKey()));
    node.properties()
        .forEach(each -> everyFieldHasADescription(each.getValue(), where + "/" + each.getKey()));
    for (int i = 0; node.isArray() && i < node.size(); i++) {
      everyFieldHasADescription(node.get(i), where + "/" + i);
    }
  }

  private static void hasDescription(JsonNode node, String where) {
    assertThat(node.path("description").asString("")).as(where).matches("[A-Z].*\\.");
  }

  /** Sends a request, and compares the answer with the document. */
  private Answer ask(
      int status, String method, String template, String path, String body, String... headers) {
    Answer answer = running.send(method, path, body, headers);
    check(answer, status, method, template);
    JsonNode request =
        described(method, template)
            .at("/requestBody/content")
            .path(method.equals("PATCH") ? Json.MERGE_PATCH : Json.MEDIA_TYPE);
    if (status < 300 && body != null) {
      schemas.check(Running.MAPPER.readTree(body), request.get("schema"), template + " request");
    }
    return answer;
  }

  private JsonNode described(String method, String template) {
    String key = method.equals("HEAD") ? "get" : method.toLowerCase(Locale.ROOT);
    JsonNode operation = document.get("paths").path(template).path(key);
    assertThat(operation.isMissingNode()).as(operation(method, template)).isFalse();
    return operation;
  }

  private void check(Answer answer, int status, String method, String template) {
    String where = operation(method, template) + " " + status;
    assertThat(answer.status()).as(where + ": " + answer.response().body()).isEqualTo(status);
    JsonNode response = described(method, template).get("responses").path("" + status);
    assertThat(response.isMissingNode()).as(where).isFalse();
    seen.computeIfAbsent(
            operation(method.equals("HEAD") ? "GET" : method, template), key -> new TreeSet<>())
        .add("" + status);
    JsonNode content = schemas.resolve(response).get("content");
    if (content == null) {
      assertThat(answer.response().body()).as(where).isEmpty();
      return;
    }
    String type = answer.header("Content-Type").replaceAll(";.*", "");
    assertThat(content.has(type)).as(where + " " + type).isTrue();
    if (type.endsWith("json")) {
      schemas.check(answer.json(), content.get(type).get("schema"), where);
    }
    schemas
        .resolve(response)
        .path("headers")
        .properties()
        .forEach(header -> assertThat(answer.header(header.getKey())).as(where).isNotNull());
  }

  private Answer timer(
      int status, String method, String id, String verb, String body, String... h) {
    String suffix = verb.isEmpty() ? "" : ":" + verb;
    return ask(
        status, method, TIMER + suffix, "/v1/namespaces/shop/timers/" + id + suffix, body, h);
  }

  private JsonNode claimed() {
    return ask(
            200,
            "POST",
            CLAIM,
            "/v1/namespaces/shop/queues/now/firings:claim",
            "{\"max\":1,\"leaseDuration\":\"PT30S\",\"wait\":\"PT1M\"}")
        .json()
        .at("/firings/0");
  }

  private void end(int status, String fireId, String verb, String body) {
    ask(
        status,
        "POST",
        FIRING + ":" + verb,
        "/v1/namespaces/shop/firings/" + fireId + ":" + verb,
        body);
  }

  @Test
  void everyDocumentedAnswerIsGivenAndIsAsDocumented() throws Exception {
    views();
    timers();
    verbs();
    many();
    queues();
    limits();
    backups(directory.resolve("data"));
    Map<String, TreeSet<String>> documented = new TreeMap<>();
    for (var path : document.get("paths").properties()) {
      for (var method : path.getValue().properties()) {
        TreeSet<String> statuses =
            new TreeSet<>(method.getValue().get("responses").propertyNames());
        assertThat(statuses.remove("default")).isTrue();
        documented.put(operation(method.getKey(), path.getKey()), statuses);
      }
    }
    assertThat(seen).isEqualTo(documented);
  }

  private void get(int status, String path, String query, String... headers) {
    ask(status, "GET", path, path + query, null, headers);
  }

  private void views() {
    get(200, "/healthz", "");
    get(200, "/readyz", "");
    get(200, "/metrics", "");
    get(200, "/openapi.json", "");
    get(200, "/", "");
    get(304, "/", "", "If-None-Match", running.get("/").header("ETag"));
    for (String file : new String[] {"main.js", "base.css", "icon.svg", "index.html"}) {
      Answer answer = ask(200, "GET", "/console/{file}", "/console/" + file, null);
      ask(
          304,
          "GET",
          "/console/{file}",
          "/console/" + file,
          null,
          "If-None-Match",
          answer.header("ETag"));
    }
    ask(404, "GET", "/console/{file}", "/console/none.js", null);
    running.put("/v1/namespaces/shop/timers/seen", AT);
    running.server.everySecond();
    get(200, "/v1/namespaces", "");
    get(400, "/v1/namespaces", "?pageSize=0");
    get(200, "/v1/stats", "");
    get(400, "/v1/namespaces", "?pageSize=0");
    get(200, "/v1/wheel", "");
    get(200, "/v1/cluster", "");
    for (String path : new String[] {"/v1/namespaces", "/v1/stats", "/v1/wheel", "/v1/events"}) {
      get(400, path, "?color=red");
    }
    ask(200, "HEAD", "/v1/events", "/v1/events", null);
  }

  private void timers() {
    timer(201, "PUT", "a", "", AT);
    timer(200, "PUT", "a", "", AT);
    timer(201, "PUT", "w", "", WEBHOOK);
    timer(400, "PUT", "a", "", "{");
    timer(412, "PUT", "a", "", AT, "If-None-Match", "*");
    timer(413, "PUT", "a", "", "{\"payload\":\"" + "x".repeat(65_536) + "\"}");
    timer(415, "PUT", "a", "", AT, "Content-Type", "text/plain");
    timer(422, "PUT", "a", "", "{}");
    patch(200, "w", "{\"target\":{\"headers\":{\"X\":null,\"Cookie\":{\"secret\":\"s\"}}}}", "*");
    patch(400, "w", "{", "*");
    patch(404, "none", "{}", "*");
    patch(412, "w", "{}", "\"999999999\"");
    patch(413, "w", "{\"payload\":\"" + "x".repeat(65_536) + "\"}", "*");
    timer(415, "PATCH", "w", "", "{}", "If-Match", "*");
    patch(422, "w", "{\"target\":null}", "*");
    timer(200, "GET", "a", "", null);
    timer(200, "GET", "w", "", null);
    timer(404, "GET", "none", "", null);
    timer(400, "GET", "x".repeat(257), "", null);
    timer(412, "DELETE", "w", "", null, "If-Match", "\"999999999\"");
    timer(404, "DELETE", "none", "", null);
    timer(200, "DELETE", "w", "", null);
  }

  private void patch(int status, String id, String body, String version) {
    timer(status, "PATCH", id, "", body, "Content-Type", Json.MERGE_PATCH, "If-Match", version);
  }

  private void verbs() {
    timer(201, "PUT", "done", "", ONCE);
    end(200, claimed(), "ack", "");
    timer(200, "GET", "done", "", null);
    for (String verb : new String[] {"run", "pause", "resume", "retry", "move"}) {
      String body = verb.equals("move") ? "{\"after\":\"PT1H\"}" : null;
      timer(404, "POST", "none", verb, body);
      timer(409, "POST", "done", verb, body);
      timer(412, "POST", "a", verb, body, "If-Match", "\"999999999\"");
    }
    timer(200, "POST", "a", "pause", "{}");
    timer(200, "POST", "a", "resume", null);
    timer(200, "POST", "a", "move", "{\"at\":\"2098-01-01T00:00:00Z\"}");
    timer(400, "POST", "a", "move", "{");
    timer(422, "POST", "a", "move", "{}");
    timer(200, "POST", "a", "run", null);
    timer(201, "PUT", "broken", "", ONCE);
    end(200, claimed(), "nack", ",\"error\":\"no stock\",\"after\":\"PT1S\"");
    timer(200, "GET", "broken", "", null);
    timer(200, "POST", "broken", "retry", null);
    end(200, claimed(), "ack", "");
  }

  private void end(int status, JsonNode firing, String verb, String more) {
    end(
        status,
        firing.get("fireId").asString(),
        verb,
        "{\"leaseToken\":\"" + firing.get("leaseToken").asString() + "\"" + more + "}");
  }

  private void many() {
    String list = "/v1/namespaces/shop/timers";
    ask(200, "GET", TIMERS, list + "?state=all&payload=true&pageSize=2", null);
    ask(200, "GET", TIMERS, list, null);
    ask(400, "GET", TIMERS, list + "?pageSize=0", null);
    String histogram = "/v1/namespaces/shop/histogram";
    ask(200, "GET", "/v1/namespaces/{ns}/histogram", histogram + "?buckets=3", null);
    ask(400, "GET", "/v1/namespaces/{ns}/histogram", histogram + "?buckets=0", null);
    String item = "{\"id\":\"b\"," + AT.substring(1);
    String batch = TIMERS + ":batch";
    ask(200, "POST", batch, list + ":batch", "{\"timers\":[" + item + "]}");
    // The document accepts one of these, and the server refuses it.
    ask(
        200,
        "POST",
        batch,
        list + ":batch",
        "{\"timers\":[" + item.replace("\"at\"", "\"cron\"") + "]}");
    ask(400, "POST", batch, list + ":batch", "{");
    ask(422, "POST", batch, list + ":batch", "{\"timers\":[]}");
    for (String verb : new String[] {"pause", "resume", "retry", "cancel"}) {
      String bulk = TIMERS + ":" + verb;
      String path = list + ":" + verb;
      ask(400, "POST", bulk, path, "{");
      ask(409, "POST", bulk, path, "{\"filter\":{\"prefix\":\"b\"},\"expect\":999}");
      ask(422, "POST", bulk, path, "{}");
      ask(
          200,
          "POST",
          bulk,
          path,
          "{\"filter\":{\"state\":[\"scheduled\"],\"prefix\":\"b\"},\"force\":true}");
    }
  }

  private void queues() {
    timer(201, "PUT", "q", "", ONCE);
    JsonNode firing = claimed();
    String claim = "/v1/namespaces/shop/queues/now/firings:claim";
    ask(200, "POST", CLAIM, claim, "{\"wait\":\"PT0S\"}");
    ask(400, "POST", CLAIM, claim, "{");
    ask(422, "POST", CLAIM, claim, "{\"max\":0}");
    String fireId = firing.get("fireId").asString();
    for (String verb : new String[] {"ack", "nack", "extend"}) {
      String by = verb.equals("extend") ? ",\"leaseDuration\":\"PT30S\"" : "";
      end(400, fireId, verb, "{");
      end(404, "none", verb, "{\"leaseToken\":\"x\"" + by + "}");
      end(409, fireId, verb, "{\"leaseToken\":\"x\"" + by + "}");
      end(422, fireId, verb, "{}");
    }
    end(200, firing, "extend", ",\"leaseDuration\":\"PT30S\"");
    leaseBatches(firing);
    end(200, firing, "ack", "");
    String queues = "/v1/namespaces/shop/queues";
    String template = "/v1/namespaces/{ns}/queues";
    ask(200, "GET", template, queues, null);
    ask(400, "GET", template, queues + "?pageToken=x", null);
    for (String verb : new String[] {"pause", "resume"}) {
      ask(200, "POST", template + "/{queue}:" + verb, queues + "/now:" + verb, null);
      ask(400, "POST", template + "/{queue}:" + verb, queues + "/now:" + verb, "{");
      ask(200, "POST", "/v1/namespaces/{ns}:" + verb, "/v1/namespaces/shop:" + verb, "{}");
      ask(400, "POST", "/v1/namespaces/{ns}:" + verb, "/v1/namespaces/shop:" + verb, "{");
    }
    String preview = "/v1/schedules:preview";
    ask(200, "POST", preview, preview, "{\"cron\":\"0 9 * * *\",\"zone\":\"UTC\",\"count\":2}");
    ask(400, "POST", preview, preview, "{");
    ask(422, "POST", preview, preview, "{}");
  }

  private void leaseBatches(JsonNode firing) {
    String item =
        "{\"fireId\":\""
            + firing.get("fireId").asString()
            + "\",\"leaseToken\":\""
            + firing.get("leaseToken").asString()
            + "\"";
    for (String verb : new String[] {"extend", "ack", "nack"}) { // the last one is refused
      String more = verb.equals("extend") ? ",\"leaseDuration\":\"PT30S\"}" : "}";
      String template = "/v1/namespaces/{ns}/firings:" + verb;
      String path = "/v1/namespaces/shop/firings:" + verb;
      ask(200, "POST", template, path, "{\"firings\":[" + item + more + "]}");
      ask(400, "POST", template, path, "{");
      ask(422, "POST", template, path, "{\"firings\":[]}");
    }
  }

  private void backups(Path data) {
    ask(409, "POST", "/v1/backups", "/v1/backups", null);
    get(409, "/v1/backups", "");
    try (RocksTimerStore store = RocksTimerStore.open(data)) {
      running.server.backups(data, store, null);
      ask(201, "POST", "/v1/backups", "/v1/backups", "{\"name\":\"before-1.1\"}");
      ask(201, "POST", "/v1/backups", "/v1/backups", null);
      get(200, "/v1/backups", "");
      ask(400, "POST", "/v1/backups", "/v1/backups", "{\"directory\":\"/etc\"}");
      ask(409, "POST", "/v1/backups", "/v1/backups", "{\"name\":\"before-1.1\"}");
      ask(422, "POST", "/v1/backups", "/v1/backups", "{\"name\":\"../elsewhere\"}");
    }
  }

  private void limits() throws IOException, InterruptedException {
    try (Running small =
        new Running(
            c ->
                new ServerConfig(
                    c.listen(),
                    0,
                    c.hosts(),
                    c.ingress(),
                    c.maxConnections(),
                    0,
                    0,
                    c.maxBodyBytes(),
                    c.maxBodyTime(),
                    c.work()))) {
      check(small.get("/v1/events"), 429, "GET", "/v1/events");
      Answer claim = small.post("/v1/namespaces/shop/queues/q/firings:claim", "{}");
      check(claim, 429, "POST", CLAIM);
    }
    try (TimewheelServer opening = TimewheelServer.start(ServerConfig.loopback(0))) {
      URI uri = URI.create("http://127.0.0.1:" + opening.port() + "/readyz");
      Answer answer =
          new Answer(
              running.client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()));
      check(answer, 503, "GET", "/readyz");
    }
  }
}
