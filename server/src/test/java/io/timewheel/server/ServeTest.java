// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program as a process of its own. */
class ServeTest {
  private static final String READY = "Timewheel ready on ";

  @TempDir private Path directory;
  private final List<Process> processes = new ArrayList<>();
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void kill() {
    processes.forEach(Process::destroyForcibly);
  }

  private Process run(String... args) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-cp", System.getProperty("java.class.path")));
    command.add("io.timewheel.server.Main");
    command.addAll(List.of(args));
    Process process = new ProcessBuilder(command).start();
    processes.add(process);
    return process;
  }

  private Process serve() throws IOException {
    return run("serve", "--port", "0", "--data", directory.resolve("data").toString());
  }

  private static String address(Process server) throws IOException {
    BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
    String line = out.readLine();
    assertThat(line).startsWith(READY + "http://127.0.0.1:");
    return line.substring(READY.length());
  }

  private int status(String method, String uri, String body) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(uri))
            .header("Content-Type", "application/json")
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
            .build();
    return client.send(request, BodyHandlers.discarding()).statusCode();
  }

  @Test
  void saysWhenItIsReadyAndExitsZeroOnSigterm() throws Exception {
    Process server = serve();
    String address = address(server);
    assertThat(status("GET", address + "/readyz", null)).isEqualTo(200);
    String timer = address + "/v1/namespaces/shop/timers/a";
    assertThat(status("PUT", timer, "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}"))
        .isEqualTo(201);
    server.destroy();
    assertThat(server.waitFor()).isZero();

    Process next = serve();
    assertThat(status("GET", address(next) + "/v1/namespaces/shop/timers/a", null)).isEqualTo(200);
    next.destroyForcibly().waitFor();
    Process afterKill = serve();
    assertThat(status("GET", address(afterKill) + "/v1/namespaces/shop/timers/a", null))
        .isEqualTo(200);
  }

  @Test
  void aSecondServerOnTheSameDataSaysThatItIsInUse() throws Exception {
    address(serve());
    Process second = serve();
    String errors = new String(second.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(second.waitFor()).isEqualTo(1);
    assertThat(errors).contains("in use");
  }

  @Test
  void refusesToListenBeyondLoopbackWithoutTokens() throws Exception {
    Process server = run("serve", "--listen", "0.0.0.0", "--data", directory.toString());
    String errors = new String(server.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(server.waitFor()).isEqualTo(1);
    assertThat(errors).contains("--insecure").contains("0.0.0.0");
  }

  @Test
  void wrongUsageExitsTwo() throws Exception {
    assertThat(run("serve", "--port", "many").waitFor()).isEqualTo(2);
    assertThat(run("nonsense").waitFor()).isEqualTo(2);
  }
}
