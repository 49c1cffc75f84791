// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.timewheel.server.cli.ApiClient.Call;
import io.timewheel.server.settings.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;

/** Tests the requests of commands to a server, and their output for its answers. */
@SuppressWarnings({"StringSplitter", "StringConcatToTextBlock"}) // plain words
final class CommandLineTest {
  static {
    // Otherwise, each answer with a body waits 40 ms for an acknowledgement.
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }

  private record Asked(String line, String condition, String authorization, String body) {}

  private final List<Asked> asked = new ArrayList<>();
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private HttpServer server;
  private int status = 200;
  private String answer = "{}";

  @BeforeEach
  void startServer() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          String condition = exchange.getRequestHeaders().getFirst("If-Match");
          if (condition == null) {
            condition = exchange.getRequestHeaders().getFirst("If-None-Match");
          }
          asked.add(
              new Asked(
                  exchange.getRequestMethod() + " " + exchange.getRequestURI(),
                  condition,
                  exchange.getRequestHeaders().getFirst("Authorization"),
                  new String(exchange.getRequestBody().readAllBytes(), UTF_8)));
          byte[] bytes = answer.getBytes(UTF_8);
          exchange.sendResponseHeaders(status, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stopServer() {
    server.stop(0);
  }

  @Test
  void showsTheAttemptsOfATimerOnlyWithGetOrAsJson() {
    answer = "{\"id\":\"a\",\"attempts\":[{\"attempt\":1,\"error\":\"status 500\"}]}";
    assertThat(run("timers pause shop a")).isEqualTo(ExitCode.DONE);
    assertThat(out.toString()).contains("id").doesNotContain("status 500");
    assertThat(run("timers get shop a")).isEqualTo(ExitCode.DONE);
    assertThat(out.toString()).containsOnlyOnce("status 500");
    assertThat(run("timers pause shop a --output json")).isEqualTo(ExitCode.DONE);
    assertThat(out.toString()).contains("\"attempts\"");
  }

  @Test
  void createsATimerWithAllItsSettings() {
    assertThat(
            run(
                "timers put shop order/42 --cron '0 9 * * *' --zone Europe/Berlin"
                    + " --url https://shop.example/h --secret shop --target-header X-Key=k"
                    + " --timeout PT5S --payload {\"a\":1} --header h=v --max-attempts 3"
                    + " --backoff PT1S --max-backoff PT1M --missed skip --grace PT5M"
                    + " --jitter 20m --until 2027-01-01T00:00:00Z --times 10 --if-version 7"))
        .isEqualTo(ExitCode.DONE);

    assertThat(asked).hasSize(1);
    assertThat(asked.get(0).line()).isEqualTo("PUT /v1/namespaces/shop/timers/order%2F42");
    assertThat(asked.get(0).condition()).isEqualTo("\"7\"");
    assertThat(json(asked.get(0).body()))
        .isEqualTo(
            json(
                """
                {"cron":"0 9 * * *","zone":"Europe/Berlin",
                 "target":{"url":"https://shop.example/h","secret":"shop","timeout":"PT5S",
                           "headers":{"X-Key":"k"}},
                 "payload":{"a":1},"headers":{"h":"v"},
                 "retry":{"maxAttempts":3,"backoff":"PT1S","maxBackoff":"PT1M"},
                 "missed":"skip","grace":"PT5M","jitter":"PT20M",
                 "until":"2027-01-01T00:00:00Z","times":10}\
                """));
  }

  @Test
  void createsNoTimerThatExists() {
    run("timers create shop order-42 --after 30m --queue unpaid");

    assertThat(asked.get(0).condition()).isEqualTo("*");
    assertThat(json(asked.get(0).body()))
        .isEqualTo(json("{\"after\":\"PT30M\",\"target\":{\"queue\":\"unpaid\"}}"));
  }

  @Test
  void takesThePayloadFromAFile(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("payload.json"), "[1,2]");

    run("timers create shop order-42 --after PT1S --queue q --payload-file " + file);

    assertThat(json(asked.get(0).body()).path("payload")).isEqualTo(json("[1,2]"));
  }

  @Test
  void numbersAreSentAndShownAsTheyWereWritten() {
    String number = "0.12345678901234567890123456789100";
    answer = "{\"payload\":" + number + "}";

    run("timers create shop order-42 --after PT1S --queue q -o json --payload " + number);

    assertThat(asked.get(0).body()).contains("\"payload\":" + number);
    assertThat(out.toString()).contains("\"payload\":" + number);
  }

  @ParameterizedTest
  @CsvSource({
    "timers get shop a:b, GET /v1/namespaces/shop/timers/a%3Ab,",
    "timers cancel shop a, DELETE /v1/namespaces/shop/timers/a,",
    "timers run shop a, POST /v1/namespaces/shop/timers/a:run, {}",
    "timers pause shop a, POST /v1/namespaces/shop/timers/a:pause, {}",
    "timers resume shop a, POST /v1/namespaces/shop/timers/a:resume, {}",
    "timers retry shop a, POST /v1/namespaces/shop/timers/a:retry, {}",
    "timers move shop a --after PT1M, POST /v1/namespaces/shop/timers/a:move, {\"after\":\"PT1M\"}",
    "timers cancel shop --force, POST /v1/namespaces/shop/timers:cancel,"
        + " '{\"filter\":{},\"force\":true}'",
    "timers pause shop --state ready --prefix a --handler h --expect 2,"
        + " POST /v1/namespaces/shop/timers:pause,"
        + " '{\"filter\":{\"state\":[\"ready\"],\"prefix\":\"a\",\"handler\":\"h\"},\"expect\":2}'",
    "timers resume shop --due-from 2099-01-01T00:00:00Z --due-to 2099-01-02T00:00:00Z --expect 0,"
        + " POST /v1/namespaces/shop/timers:resume,"
        + " '{\"filter\":{\"dueFrom\":\"2099-01-01T00:00:00Z\",\"dueTo\":\"2099-01-02T00:00:00Z\"},"
        + "\"expect\":0}'",
    "timers retry shop --prefix a --force, POST /v1/namespaces/shop/timers:retry,"
        + " '{\"filter\":{\"prefix\":\"a\"},\"force\":true}'",
    "queues ack shop f1 --lease-token l, POST /v1/namespaces/shop/firings/f1:ack,"
        + " {\"leaseToken\":\"l\"}",
    "queues claim shop q, POST /v1/namespaces/shop/queues/q/firings:claim, "
        + "'{\"max\":1,\"leaseDuration\":\"PT30S\",\"wait\":\"PT20S\"}'",
    "queues nack shop f1 --lease-token l --error e --after PT1S, "
        + "POST /v1/namespaces/shop/firings/f1:nack, "
        + "'{\"leaseToken\":\"l\",\"error\":\"e\",\"after\":\"PT1S\"}'",
    "queues extend shop f1 --lease-token l --lease-duration PT9S, POST"
        + " /v1/namespaces/shop/firings/f1:extend, "
        + "'{\"leaseToken\":\"l\",\"leaseDuration\":\"PT9S\"}'",
    "queues claim shop q --wait 0s --lease-duration 2h, "
        + "POST /v1/namespaces/shop/queues/q/firings:claim, "
        + "'{\"max\":1,\"leaseDuration\":\"PT2H\",\"wait\":\"PT0S\"}'",
    "queues list shop/a, GET /v1/namespaces/shop%2Fa/queues?pageSize=1000,",
    "queues pause shop q, POST /v1/namespaces/shop/queues/q:pause, {}",
    "queues resume shop q, POST /v1/namespaces/shop/queues/q:resume, {}",
    "namespaces list, GET /v1/namespaces?pageSize=1000,",
    "namespaces pause shop, POST /v1/namespaces/shop:pause, {}",
    "namespaces resume shop, POST /v1/namespaces/shop:resume, {}",
    "timers move shop a --after 90m, POST /v1/namespaces/shop/timers/a:move,"
        + " {\"after\":\"PT1H30M\"}",
    "timers list shop --queue q --target queue --order-by due --order desc --limit 5, GET"
        + " /v1/namespaces/shop/timers"
        + "?queue=q&target=queue&orderBy=due&order=desc&pageSize=5,",
    "stats, GET /v1/stats,"
  })
  void sendsTheRequestOfItsCommand(String command, String line, String body) {
    assertThat(run(command)).isEqualTo(ExitCode.DONE);

    assertThat(asked.get(0).line()).isEqualTo(line);
    assertThat(asked.get(0).body()).isEqualTo(body == null ? "" : body);
  }

  @Test
  void listsPageByPageUpToTheLimit() {
    answer = "{\"timers\":[{\"id\":\"a\",\"state\":\"scheduled\"}],\"nextPageToken\":\"t\"}";

    assertThat(run("timers list shop --state failed --prefix or --limit 2")).isZero();

    assertThat(asked)
        .extracting(Asked::line)
        .containsExactly(
            "GET /v1/namespaces/shop/timers?state=failed&prefix=or&pageSize=2",
            "GET /v1/namespaces/shop/timers?state=failed&prefix=or&pageSize=1&pageToken=t");
    assertThat(out.toString().lines())
        .containsExactly(
            "ID  STATE      DUE AT  ATTEMPT  TARGET  LAST ERROR",
            "a   scheduled",
            "a   scheduled",
            "… and more: --limit 0 shows all");
  }

  @ParameterizedTest
  @CsvSource({
    "200, 0", "201, 0", "400, 1", "401, 1", "403, 1", "404, 3", "409, 4", "412, 4", "422, 1",
    "500, 1", "503, 1"
  })
  void exitsWithTheCodeOfTheStatus(int answered, int exitCode) {
    status = answered;
    answer = "{\"title\":\"t\",\"detail\":\"the reason\"}";

    assertThat(run("timers get shop a")).isEqualTo(exitCode);

    if (exitCode != 0) {
      assertThat(err.toString()).startsWith("timewheel: " + answered + " the reason");
    }
  }

  @Test
  void reportsThatNoServerAnswers() {
    server.stop(0);

    assertThat(run("timers get shop a")).isEqualTo(ExitCode.UNREACHABLE);
    assertThat(err.toString()).contains("no server answers at http://127.0.0.1:");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nonsense",
        "timers",
        "timers get shop",
        "timers create shop a --after PT1S",
        "timers create shop a --queue q",
        "timers create shop a --after PT1S --at x --queue q",
        "timers create shop a --after PT1S --queue q --url http://a",
        "timers create shop a --after PT1S --queue q --payload {",
        "timers create shop a --after PT1S --queue q --if-version 1",
        "timers move shop a",
        "timers cancel shop",
        "timers cancel shop --prefix a",
        "timers cancel shop --force --expect 1",
        "timers pause shop a --force",
        "timers pause shop a --prefix b",
        "timers list shop --limit -1",
        "queues ack shop f1",
        "queues claim shop q --max ten",
        "stats -o xml",
        "--server ftp://a stats",
        "--server http://u:p@a stats",
        "--server http://127.0.0.1:99999 stats",
        "stats --token secret"
      })
  void refusesWrongUsageWithAHint(String command) {
    assertThat(run(command)).isEqualTo(ExitCode.USAGE);

    assertThat(err.toString().lines()).hasSize(2).last().asString().startsWith("Try: timewheel");
    assertThat(asked).isEmpty();
  }

  @Test
  void optionsOfAllCommandsMayStandAnywhere() {
    String url = "--server http://127.0.0.1:" + server.getAddress().getPort();
    for (String command :
        List.of(
            url + " -o json timers get shop a",
            "timers " + url + " -o json get shop a",
            "timers get " + url + " shop -o json a")) {
      out.getBuffer().setLength(0);
      assertThat(execute(command)).isZero();
      assertThat(out.toString()).isEqualTo("{}" + System.lineSeparator());
    }
  }

  @Test
  void takesTheTokenFromAFileAndNeverShowsIt(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("token"), "s3cret\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    status = 401;

    run("stats --token-file " + file);

    assertThat(asked.get(0).authorization()).isEqualTo("Bearer s3cret");
    assertThat(out.toString() + err).doesNotContain("s3cret");
  }

  /** Linux connects 0.0.0.0 to this machine. The command treats it as another one. */
  @ParameterizedTest
  @CsvSource({
    "http://0.0.0.0, true, true",
    "HTTP://0.0.0.0, true, true",
    "http://0.0.0.0, false, false",
    "https://0.0.0.0, true, false",
    "http://127.0.0.1, true, false",
    "http://LOCALHOST, true, false",
    "http://[::1], true, false"
  })
  void warnsOfATokenInClearText(
      String address, boolean token, boolean warns, @TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("token"), "s3cret\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    // The server of this test has no TLS, and the command would wait for a handshake.
    int port = address.startsWith("https") ? closedPort() : server.getAddress().getPort();
    String url = address + ":" + port;

    run("stats --server " + url + (token ? " --token-file " + file : ""));

    String warning = "timewheel: the token is sent in clear text to " + url + " (expected: https)";
    assertThat(err.toString().lines().toList().contains(warning)).isEqualTo(warns);
    assertThat(out.toString() + err).doesNotContain("s3cret");
  }

  private static int closedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"s3cret\nother", "\ufeffs3cret", "s3cret other", "\n"})
  void refusesAMalformedTokenWithoutShowingIt(String content, @TempDir Path directory)
      throws IOException {
    Path file = Files.writeString(directory.resolve("token"), content);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));

    assertThat(run("stats --token-file " + file)).isEqualTo(ExitCode.FAILED);

    assertThat(err.toString())
        .contains(file + ": contains no token")
        .doesNotContain("s3cret")
        .hasLineCount(1);
    assertThat(asked).isEmpty();
  }

  @Test
  void anArgumentThatBeginsWithAnAtIsNotAFile(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("id"), "order-42");

    run("timers get shop @" + file);

    assertThat(asked.get(0).line()).isEqualTo("GET " + ApiClient.timer("shop", "@" + file));
  }

  @Test
  void refusesATokenThatOthersCanRead(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("token"), "s3cret\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));

    assertThat(run("stats --token-file " + file)).isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).contains("chmod 600").doesNotContain("s3cret");
    assertThat(asked).isEmpty();
  }

  @Test
  void namesCannotMoveTheCursor() {
    answer = "{\"id\":\"a\\u001b[2J\u202eb\",\"lastError\":\"line\\nbreak\"}";

    run("timers get shop a");

    assertThat(out.toString().lines())
        .containsExactly("id         a\ufffd[2J\ufffdb", "lastError  line\ufffdbreak");
  }

  @Test
  void showsAStackTraceLineByLine() {
    answer = "{\"id\":\"a\",\"lastTrace\":\"E: \u202eno luck\\n\\tat A.b(A.java:7)\"}";

    run("timers get shop a");

    assertThat(out.toString().lines())
        .containsExactly("id         a", "lastTrace", "  E: \ufffdno luck", "    at A.b(A.java:7)");
  }

  @Test
  void reportsAnAnswerOfAnotherServer() {
    answer = "<html>";

    assertThat(run("stats")).isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).contains("does not answer as a Timewheel server");
    status = 502;
    assertThat(run("stats")).isEqualTo(ExitCode.FAILED);
  }

  @Test
  void watchesAsLinesWhereThereIsNoTerminal() {
    answer =
        """
        {"now":"2026-12-01T09:00:00Z","overdue":0,"rates":{"fired":3.5,"failed":0,"scheduled":12},
         "lag":{"p99":"PT0.02S"}}\
        """;

    assertThat(run("watch --count 1")).isZero();

    assertThat(out.toString().strip())
        .isEqualTo(
            "2026-12-01T09:00:00Z  fired 3.5/s  failed 0/s  scheduled 12/s  lag p99 PT0.02S"
                + "  overdue 0");
  }

  @Test
  void drawsAScreenOfTheFigures() {
    String screen =
        WatchCommand.screen(
            json("{\"storeAvailable\":false,\"states\":{\"scheduled\":12345,\"failed\":2}}"),
            json("{\"levels\":[{\"name\":\"minute\",\"counts\":[0,1,2,8]}]}"));

    assertThat(screen)
        .contains("no store")
        .contains("scheduled             12,345")
        .contains("\u001b[31mfailed                     2")
        .contains("minute   ▁▂█");
  }

  @Test
  void benchCleansUp() {
    assertThat(run("bench --timers 2000 --connections 2")).isZero();

    List<String> lines = asked.stream().map(Asked::line).toList();
    assertThat(lines).filteredOn(line -> line.endsWith("timers:batch")).hasSize(2);
    assertThat(lines).filteredOn(line -> line.startsWith("PUT ")).hasSize(200);
    assertThat(lines).last().asString().endsWith("timers:cancel");
    assertThat(out.toString().lines().skip(1).map(line -> line.split(" {2,}")[0]))
        .containsExactly("in batches of 1,000", "one by one");
    assertThat(err.toString())
        .contains("the namespace bench-", "in batches of 1,000: 2 of 2 calls", "cancelling them");
  }

  @Test
  void showsHowToCleanUpAfterAFailedBench() {
    status = 500;

    assertThat(run("bench --timers 1000 --connections 1")).isEqualTo(ExitCode.FAILED);

    assertThat(err.toString())
        .containsPattern("curl -X POST 'http://127.0.0.1:.*/bench-.*/timers:cancel'")
        .contains("-d '{\"filter\":{},\"force\":true}'");
  }

  @Test
  void completesCommands() {
    assertThat(execute("generate-completion")).isZero();

    assertThat(out.toString()).contains("timers").contains("--if-version");
  }

  @Test
  void encodesPathsOnce() {
    assertThat(Call.get(ApiClient.timer("a b", "ü+%")).path())
        .isEqualTo("/v1/namespaces/a%20b/timers/%C3%BC%2B%25");
  }

  private int run(String command) {
    return execute(
        command
            + (command.contains("--server")
                ? ""
                : " --server http://127.0.0.1:" + server.getAddress().getPort()));
  }

  /** Runs a command whose words are split like in a shell; single quotes keep words together. */
  private int execute(String command) {
    CommandLine line = Timewheel.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    List<String> words = new ArrayList<>();
    String[] parts = command.strip().split("'");
    for (int i = 0; i < parts.length; i++) {
      if (i % 2 == 1) {
        words.add(parts[i]);
      } else {
        Stream.of(parts[i].strip().split(" +")).filter(word -> !word.isEmpty()).forEach(words::add);
      }
    }
    return line.execute(words.toArray(String[]::new));
  }

  private static JsonNode json(String text) {
    return ApiClient.JSON.readTree(text);
  }
}
