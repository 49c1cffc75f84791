// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.security.Tokens;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the command line as processes of a shell: their output, errors and exit codes. Only this
 * test proves output that cannot be written, secrets of the environment, and a stopped bench.
 */
class CommandProcessTest {
  @TempDir private Path directory;
  private final Programs programs = new Programs();

  @AfterEach
  void kill() {
    programs.close();
  }

  private record Ended(int exitCode, String out, String err) {}

  private Process serve(String... more) throws IOException {
    List<String> line = new ArrayList<>(List.of("serve", "--port", "0", "--data"));
    line.add(directory.resolve("data").toString());
    line.addAll(List.of(more));
    return programs.run(Map.of(), line.toArray(String[]::new));
  }

  private Ended run(Map<String, String> environment, String server, String command)
      throws Exception {
    String[] line = (command + " --server " + server).split(" ", -1);
    Process process = programs.run(environment, line);
    String out = new String(process.getInputStream().readAllBytes(), UTF_8);
    String err = new String(process.getErrorStream().readAllBytes(), UTF_8);
    return new Ended(process.waitFor(), out, err);
  }

  private Ended run(String server, String command) throws Exception {
    return run(Map.of(), server, command);
  }

  /** Runs a command in this JVM, where the test needs no process. */
  private static Commands.Ended here(String server, String command) throws IOException {
    return Commands.run(Map.of(), (command + " --server " + server).split(" ", -1));
  }

  @Test
  void aCreatedTimerIsClaimedAfterTheServerWasKilled() throws Exception {
    Process killed = serve();
    Commands.Ended made =
        here(
            Programs.address(killed, "127.0.0.1"),
            "timers create shop order-42 --after PT1S --queue unpaid --payload {\"order\":42}");
    assertThat(made.exitCode()).as(made.err()).isZero();
    killed.destroyForcibly().waitFor();

    String address = Programs.address(serve(), "127.0.0.1");
    Ended claimed = run(address, "queues claim shop unpaid --wait PT1M -o json");
    assertThat(claimed.exitCode()).as(claimed.err()).isZero();
    assertThat(claimed.err()).isEmpty();
    var firing = Running.MAPPER.readTree(claimed.out()).at("/firings/0");
    assertThat(firing.at("/payload/order").asInt()).isEqualTo(42);
    String ack =
        "queues ack shop %s --lease-token %s"
            .formatted(firing.get("fireId").asString(), firing.get("leaseToken").asString());
    assertThat(here(address, ack).exitCode()).isZero();
    assertThat(here(address, "timers get shop order-42 -o json").out())
        .contains("\"state\":\"completed\"");
  }

  /** A backup script must not keep a truncated export. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void failsIfItsOutputCannotBeWritten() throws Exception {
    String data = directory.resolve("data").toString();
    Process server = serve();
    String address = Programs.address(server, "127.0.0.1");
    assertThat(here(address, "timers create shop a --after PT1H --queue q").exitCode()).isZero();
    for (String command : List.of("timers list shop --server " + address, "store export -")) {
      List<String> line = new ArrayList<>(List.of(command.split(" ", -1)));
      if (command.startsWith("store")) {
        server.destroyForcibly().waitFor();
        line.addAll(List.of("--data", data));
      }
      Process full =
          programs.run(
              Map.of(),
              Redirect.PIPE,
              Redirect.to(new File("/dev/full")),
              line.toArray(String[]::new));
      String err = new String(full.getErrorStream().readAllBytes(), UTF_8);
      assertThat(full.waitFor()).as(command).isEqualTo(1);
      assertThat(err).contains("timewheel: the output could not be written");
    }
  }

  @Test
  void reportsErrorsInAFileOfSettings() throws Exception {
    Ended refused =
        run(Map.of("TIMEWHEEL_CONFIG", "/nowhere/settings"), "http://127.0.0.1:1", "config");
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err())
        .isEqualToIgnoringNewLines(
            "timewheel: TIMEWHEEL_CONFIG: /nowhere/settings: there is no such file");
  }

  @Test
  void aStoppedBenchCancelsItsTimers() throws Exception {
    try (Running running = new Running()) {
      String address = "http://127.0.0.1:" + running.server.port();
      Process bench = programs.run(Map.of(), "bench", "--server", address, "--connections", "4");
      try (BufferedReader err = bench.errorReader(UTF_8)) {
        String first = err.readLine();
        assertThat(first).contains("the namespace bench-");
        assertThat(err.readLine()).contains("of 100 calls");
        bench.destroy();
        assertThat(bench.waitFor()).isNotZero();
        String namespace = first.substring(first.lastIndexOf(' ') + 1);
        assertThat(here(address, "timers list " + namespace + " --limit 1 -o json").out())
            .isEqualToIgnoringNewLines("{\"timers\":[]}");
      }
    }
  }

  @Test
  void theTokenIsTakenFromTheEnvironmentOrAFileAndNeverShown() throws Exception {
    Path tokens = directory.resolve("tokens");
    String token = Tokens.add(tokens, "reader", "read", Set.of());
    try (Running running = new Running(config -> config, Tokens.open(tokens))) {
      String address = "http://127.0.0.1:" + running.server.port();
      Commands.Ended stranger = here(address, "stats");
      assertThat(stranger.exitCode()).isEqualTo(1);
      assertThat(stranger.err()).contains("TIMEWHEEL_TOKEN");
      Map<String, String> environment = Map.of("TIMEWHEEL_TOKEN", token);
      assertThat(run(environment, address, "stats").exitCode()).isZero();
      Ended refused = run(environment, address, "timers create shop a --after PT1H --queue q");
      assertThat(refused.exitCode()).isEqualTo(1);
      assertThat(refused.err()).contains("403").doesNotContain(token);
      Path file = directory.resolve("token");
      Files.writeString(file, token + "\n");
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
      assertThat(here(address, "stats --token-file " + file).exitCode()).isZero();
      assertThat(run(environment, address, "config").out())
          .contains("********")
          .doesNotContain(token);
    }
  }
}
