// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests commands that are killed while the server has made a copy for them. Only this class
 * verifies that the server deletes the copy.
 */
@Tag("proof")
@Timeout(value = 10, unit = MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
class KilledCommandTest {
  /** The number of timers to export: much more than fits into the buffer of a pipe. */
  private static final int TIMERS = 1_000;

  @TempDir private Path directory;
  private final Programs programs = new Programs();
  private Process server;
  private String address;

  @BeforeEach
  void start() throws Exception {
    serve();
    String item =
        "{\"id\":\"t%d\",\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"},\"payload\":\"%s\"}";
    String items =
        IntStream.range(0, TIMERS)
            .mapToObj(i -> item.formatted(i, "x".repeat(500)))
            .collect(Collectors.joining(","));
    HttpRequest batch =
        HttpRequest.newBuilder(URI.create(address + "/v1/namespaces/shop/timers:batch"))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"timers\":[" + items + "]}"))
            .build();
    assertThat(HttpClient.newHttpClient().send(batch, BodyHandlers.discarding()).statusCode())
        .isEqualTo(200);
  }

  @AfterEach
  void kill() {
    programs.close();
  }

  private void serve() throws IOException {
    server = programs.run(Map.of(), "serve", "--port", "0", "--data", data());
    address = Programs.address(server, "127.0.0.1");
  }

  private void serveAgain() throws Exception {
    server.destroyForcibly().waitFor();
    serve();
  }

  private String data() {
    return directory.resolve("data").toString();
  }

  private String[] copies() {
    return directory.resolve("data").resolve("backups").toFile().list();
  }

  private Process store(String... arguments) throws IOException {
    String[] line = new String[arguments.length + 5];
    System.arraycopy(arguments, 0, line, 1, arguments.length);
    line[0] = "store";
    System.arraycopy(
        new String[] {"--data", data(), "--server", address}, 0, line, arguments.length + 1, 4);
    return programs.run(Map.of(), line);
  }

  /** {@return an export that blocks, because its output is not read} */
  private Process export() throws IOException {
    Process export = store("export", "-");
    String header = export.inputReader(StandardCharsets.UTF_8).readLine();
    assertThat(header).contains("\"timewheel\":\"timers\"");
    return export;
  }

  @Test
  void aStoppedCommandDeletesItsCopy() throws Exception {
    Process export = export();
    assertThat(copies()).hasSize(2); // and a lock file
    export.destroy();
    export.waitFor();
    assertThat(copies()).isEmpty();
  }

  @Test
  void theNextCommandDeletesTheFilesOfAKilledOne() throws Exception {
    Process living = export();
    String[] held = copies();
    export().destroyForcibly().waitFor();
    assertThat(copies()).hasSize(4);

    assertThat(store("verify").waitFor()).isZero();
    assertThat(copies()).containsExactlyInAnyOrder(held);

    serveAgain();
    assertThat(copies()).containsExactlyInAnyOrder(held);
    living.destroyForcibly().waitFor();
    serveAgain();
    assertThat(copies()).isEmpty();
  }
}
