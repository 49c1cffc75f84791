// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.server.Running.Answer;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/**
 * Tests requests with an Idempotency-Key that are repeated after the server was killed. Only this
 * test proves that a directory and another node keep the answers of a killed process. It waits for
 * a node lease to expire.
 */
@Tag("proof") // server processes
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
class KilledRequestsTest {
  private static final String HOURLY = "{\"every\":\"PT1H\",\"target\":{\"queue\":\"q\"}}";
  private static final String LATER = "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}";

  @TempDir private Path directory;
  private final Programs programs = new Programs();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  @AfterEach
  void stop() {
    programs.close();
  }

  /** A server process. */
  private record Node(Process process, String address) {
    void kill() throws InterruptedException {
      process.destroyForcibly();
      process.waitFor();
    }
  }

  private Node serve(Map<String, String> environment, String... store) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("serve", "--port", "0"));
    arguments.addAll(List.of(store));
    Process process = programs.run(environment, Redirect.DISCARD, arguments.toArray(String[]::new));
    return new Node(process, Programs.address(process, "127.0.0.1"));
  }

  private Node serve(Database database) throws IOException {
    return serve(
        Map.of("TIMEWHEEL_STORE_PASSWORD", database.password()),
        "--store",
        database.url(),
        "--store-user",
        database.user());
  }

  private Answer send(Node node, String method, String path, String body, String key)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(node.address + "/v1/namespaces/shop" + path))
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", key)
            .method(method, BodyPublishers.ofString(body))
            .build();
    return new Answer(client.send(request, BodyHandlers.ofString()));
  }

  private JsonNode claim(Node node, String wait) throws Exception {
    String body = "{\"max\":100,\"wait\":\"" + wait + "\"}";
    return send(node, "POST", "/queues/q/firings:claim", body, "c").json().get("firings");
  }

  private void ack(Node node, JsonNode firing) throws Exception {
    String body = "{\"leaseToken\":\"" + firing.get("leaseToken").asString() + "\"}";
    String path = "/firings/" + firing.get("fireId").asString() + ":ack";
    assertThat(send(node, "POST", path, body, "a").status()).isEqualTo(200);
  }

  /** Ends and extends claim leases, and repeats the requests later. */
  private List<String> askOfLeases(Node node, Map<String, JsonNode> leases) throws Exception {
    List<String> answers = new ArrayList<>();
    for (String id : List.of("acked", "nacked", "extended")) {
      String verb = id.substring(0, id.length() - 2);
      String fields =
          switch (verb) {
            case "extend" -> ",\"leaseDuration\":\"PT1H\"";
            case "nack" -> ",\"after\":\"PT1H\"";
            default -> "";
          };
      String token = "\"leaseToken\":\"" + leases.get(id).get("leaseToken").asString() + "\"";
      String fireId = leases.get(id).get("fireId").asString();
      Answer one =
          send(node, "POST", "/firings/" + fireId + ":" + verb, "{" + token + fields + "}", "k");
      Answer batch =
          send(
              node,
              "POST",
              "/firings:" + verb,
              "{\"firings\":[{\"fireId\":\"" + fireId + "\"," + token + fields + "}]}",
              "k");
      answers.add(verb + " " + one.status() + " " + batch.response().body());
    }
    return answers;
  }

  /** Requests all kinds of changes, and repeats the requests later. */
  private List<String> ask(Node node) throws Exception {
    List<Answer> answers =
        List.of(
            send(node, "PUT", "/timers/put", LATER, "k"),
            send(node, "POST", "/timers/run:run", "{}", "k"),
            send(node, "POST", "/timers/moved:move", "{\"at\":\"2098-01-01T00:00:00Z\"}", "k"),
            send(node, "DELETE", "/timers/cancelled", "", "k"),
            send(
                node, "POST", "/timers:pause", "{\"filter\":{\"prefix\":\"b\"},\"expect\":2}", "k"),
            send(
                node,
                "POST",
                "/timers:batch",
                "{\"timers\":[{\"id\":\"item\"," + LATER.substring(1) + "]}",
                "k"));
    return answers.stream()
        .map(
            answer ->
                answer.status()
                    + " "
                    + (answer.json().has("outcome") || !answer.json().has("id")
                        ? answer.response().body()
                        : answer.header("ETag")))
        .toList();
  }

  private void repeatsAcrossAKill(Node first, Opening again) throws Exception {
    for (String id : List.of("moved", "cancelled", "b1", "b2")) {
      send(first, "PUT", "/timers/" + id, LATER, "made");
    }
    for (String id : List.of("acked", "nacked", "extended")) {
      send(first, "PUT", "/timers/" + id, HOURLY, "made");
      send(first, "POST", "/timers/" + id + ":run", "{}", "made");
    }
    Map<String, JsonNode> leases = new HashMap<>();
    while (leases.size() < 3) {
      claim(first, "PT20S").forEach(firing -> leases.put(firing.get("id").asString(), firing));
    }
    List<String> leaseAnswers = askOfLeases(first, leases);
    send(first, "POST", "/timers/acked:run", "{}", "next run");
    for (JsonNode firing : claim(first, "PT20S")) {
      ack(first, firing);
    }
    send(first, "PUT", "/timers/run", HOURLY, "made");
    List<String> answers = ask(first);
    for (JsonNode firing : claim(first, "PT20S")) {
      assertThat(firing.get("id").asString()).isEqualTo("run");
      ack(first, firing);
    }
    // Later requests, which a repeated request must not undo.
    for (int i = 0; i < 20; i++) {
      send(first, "PUT", "/timers/put", LATER, "later-" + i);
    }
    send(first, "PUT", "/timers/cancelled", LATER, "made-again");
    send(first, "POST", "/timers:resume", "{\"filter\":{\"prefix\":\"b\"},\"expect\":2}", "later");

    first.kill();
    Node second = again.open();

    List<String> repeated = ask(second);
    assertThat(askOfLeases(second, leases)).isEqualTo(leaseAnswers);
    assertThat(repeated.get(0)).as("PUT").isEqualTo(answers.get(0));
    assertThat(repeated.subList(3, 6)).isEqualTo(answers.subList(3, 6));
    assertThat(claim(second, "PT2S")).as("firings of a repeated run").isEmpty();
    for (String id : List.of("cancelled", "b1", "b2", "run", "put")) {
      assertThat(send(second, "GET", "/timers/" + id, "", "g").text("state"))
          .as(id)
          .isEqualTo("scheduled");
    }
    System.out.println("repeated after kill -9: " + repeated);
  }

  /** Opens a server on the data of the killed one. */
  private interface Opening {
    Node open() throws Exception;
  }

  @Test
  void aDirectoryKeepsTheAnswers() throws Exception {
    String data = directory.resolve("data").toString();
    repeatsAcrossAKill(serve(Map.of(), "--data", data), () -> serve(Map.of(), "--data", data));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anotherNodeRepeatsTheAnswers(boolean mariaDb) throws Exception {
    Database database =
        (mariaDb ? TestDatabases.mariadb() : TestDatabases.postgresql()).createDatabase();
    Node first = serve(database);
    Node second = serve(database);
    repeatsAcrossAKill(
        first,
        () -> {
          Await.until(() -> ownsAllShards(second)); // the node lease of the killed node expires
          return second;
        });
  }

  /** {@return whether a node owns all shards, so that it would fire any due timer} */
  private boolean ownsAllShards(Node node) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create(node.address + "/v1/cluster")).build();
    JsonNode cluster =
        Running.MAPPER.readTree(client.send(request, BodyHandlers.ofString()).body());
    String self = "";
    for (JsonNode each : cluster.get("nodes")) {
      self = each.get("self").asBoolean() ? each.get("id").asString() : self;
    }
    for (JsonNode shard : cluster.get("shards")) {
      if (!shard.has("owner") || !shard.get("owner").asString().equals(self)) {
        return false;
      }
    }
    return true;
  }
}
