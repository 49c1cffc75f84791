// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests clients that create their own timer, with a server that never answers their requests. */
@Tag("jar")
class ClientsTest {
  @Test
  void asyncHttpClientTimesOutOnTimewheel() throws Exception {
    assertTimesOut("async-http-client");
  }

  @Test
  void lettuceTimesOutOnTimewheel() throws Exception {
    assertTimesOut("lettuce");
  }

  private static void assertTimesOut(String client) throws Exception {
    ChildJvm.Output output =
        ChildJvm.withAgent("tick=1ms,report=exit").run(ClientApplication.class, client);

    assertThat(output.text())
        .contains("[timewheel-agent] replaced io.netty.util.HashedWheelTimer of file:")
        .contains("timed out: 20")
        .contains("early: 0")
        .containsPattern(
            "io.netty.util.HashedWheelTimer: 1 timer.*, [1-9][0-9]+ expired, late p50");
    assertThat(output.exitCode()).isZero();
  }
}
