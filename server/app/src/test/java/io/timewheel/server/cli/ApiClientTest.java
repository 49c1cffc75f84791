// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.ExitCode;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Verifies how a command reports a server that does not answer. */
class ApiClientTest {
  @Test
  void aServerThatDoesNotAnswerInTimeMayStillWork() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
      URI url = URI.create("http://127.0.0.1:" + silent.getLocalPort());
      ApiClient client = new ApiClient(url, null, null, Duration.ofSeconds(2));
      assertThatThrownBy(() -> client.call(ApiClient.Call.get("/v1/stats")))
          .isInstanceOf(CommandException.class)
          .hasMessage(url + " has not answered within PT2S; it may still do the work")
          .hasFieldOrPropertyWithValue("exitCode", ExitCode.FAILED);
    }
  }
}
