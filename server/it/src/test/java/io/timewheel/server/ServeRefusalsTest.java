// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Commands.Ended;
import io.timewheel.server.security.Tokens;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests exit codes and messages of servers that do not start. A server that starts never ends. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServeRefusalsTest {
  @TempDir private Path directory;

  private static Ended serve(String... words) throws IOException {
    String[] line = new String[words.length + 1];
    line[0] = "serve";
    System.arraycopy(words, 0, line, 1, words.length);
    return Commands.run(Map.of(), line);
  }

  @Test
  void reportsAPortInUse() throws IOException {
    try (Running running = new Running()) {
      int port = running.server.port();
      Ended second = serve("--port", "" + port, "--data", directory.resolve("other").toString());
      assertThat(second.exitCode()).isEqualTo(1);
      assertThat(second.err()).contains("127.0.0.1:" + port).contains("in use").hasLineCount(1);
    }
  }

  @Test
  void refusesADrainDelayThatIsTooLong() throws IOException {
    Ended refused = serve("--port", "0", "--drain-delay", "PT2H");
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err()).contains("--drain-delay: PT2H (expected: PT0S to PT1H)");
  }

  @Test
  void refusesAnEncryptedKey() throws IOException {
    TlsFixture fixture = new TlsFixture(directory);
    String cert = fixture.file("ec.crt").toString();
    String key = fixture.file("encrypted.key").toString();
    Ended refused = serve("--port", "0", "--tls-cert", cert, "--tls-key", key);
    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.err()).hasLineCount(1).contains(key + ": the private key is encrypted");
  }

  @Test
  void refusesACertificateWithoutAKey() throws IOException {
    String cert = new TlsFixture(directory).file("ec.crt").toString();
    Ended refused = serve("--port", "0", "--tls-cert", cert);
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err()).hasLineCount(1).contains("--tls-key");
  }

  @Test
  void refusesToListenBeyondLoopbackWithoutTokens() throws IOException {
    Ended refused = serve("--listen", "0.0.0.0", "--data", directory.toString());
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err()).contains("--insecure").contains("0.0.0.0");
  }

  @Test
  void refusesATokenFileThatOthersCanChange() throws IOException {
    Path tokens = directory.resolve("tokens");
    Tokens.add(tokens, "ops", "admin", Set.of());
    Files.setPosixFilePermissions(tokens, PosixFilePermissions.fromString("rw-rw-rw-"));
    Ended refused = serve("--port", "0", "--tokens", tokens.toString());
    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.err()).contains("chmod 600");
  }

  @Test
  void anObserverNeedsASharedStore() throws IOException {
    Path data = directory.resolve("data");
    Ended refused = serve("--observe", "--port", "0", "--data", data.toString());
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err())
        .contains("--observe")
        .contains("has one owner")
        .contains("Try: timewheel serve --help");
    assertThat(data).doesNotExist();
  }

  @Test
  void refusesADirectoryTogetherWithADatabase() throws IOException {
    String data = directory.resolve("data").toString();
    Ended refused = serve("--data", data, "--store", "jdbc:postgresql://db.example/timers");
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err()).contains("--data and --store exclude each other");
  }

  @Test
  void refusesAPortThatIsNoNumber() throws IOException {
    assertThat(serve("--port", "many").exitCode()).isEqualTo(2);
  }
}
