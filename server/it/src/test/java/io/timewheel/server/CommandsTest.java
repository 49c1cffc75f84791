// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Commands.Ended;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests exit codes of commands that send requests to a whole server. */
class CommandsTest {
  private static Ended run(String server, String command) throws IOException {
    return Commands.run(Map.of(), (command + " --server " + server).split(" ", -1));
  }

  @Test
  void exitsWithTheDocumentedExitCodes() throws IOException {
    String address;
    try (Running running = new Running()) {
      address = "http://127.0.0.1:" + running.server.port();
      String create = "timers create shop a --after PT1H --queue q";
      assertThat(run(address, create).exitCode()).isZero();
      assertThat(run(address, create).exitCode()).isEqualTo(4);
      String put = create.replace("create", "put");
      assertThat(run(address, put).exitCode()).as("replaces").isZero();
      assertThat(run(address, put + " --if-version 1").exitCode()).isEqualTo(4);
      assertThat(run(address, "--help").out()).contains("4   conflict");
      assertThat(run(address, "timers resume shop b").exitCode()).isEqualTo(3);
      assertThat(run(address, "timers create shop b --cron never --queue q").exitCode())
          .isEqualTo(1);
      assertThat(run(address, "timers create shop b").exitCode()).isEqualTo(2);
    }
    Ended unreachable = run(address, "stats");
    assertThat(unreachable.exitCode()).isEqualTo(5);
    assertThat(unreachable.out()).isEmpty();
    assertThat(unreachable.err()).contains(address).hasLineCount(1);
  }
}
