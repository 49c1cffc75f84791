// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests clients that create their own timers, with servers that do not answer. Only this test
 * verifies that the clients' own code works on replaced timers. It takes long, because each client
 * waits for its time-outs in a JVM of its own. Each application ends without {@code System.exit},
 * so its clients must have stopped the threads of their timers.
 */
@Tag("jar")
@Tag("proof")
class ClientsTest {
  private static final String NETTY = "io.netty.util.HashedWheelTimer";

  @TempDir private Path directory;

  @Test
  void asyncHttpClientRunsOnTimewheel() throws Exception {
    assertTimesOut(NETTY, 20, run(AsyncHttpClientApplication.class));
  }

  @Test
  void lettuceRunsOnTimewheel() throws Exception {
    RedisServer.assumeInstalled();
    try (RedisServer server = RedisServer.start(directory)) {
      assertTimesOut(NETTY, 20, run(LettuceApplication.class, "" + server.port()));
    }
  }

  @Test
  void redissonRunsOnTimewheel() throws Exception {
    RedisServer.assumeInstalled();
    try (RedisServer server = RedisServer.start(directory)) {
      ChildJvm.Output output = run(RedissonApplication.class, "" + server.port());

      assertThat(output.text()).contains("lock renewed: true");
      assertTimesOut(NETTY, 21, output);
    }
  }

  /** The heartbeat and the retry are a timeout each. */
  @Test
  void dubboRunsOnTimewheel() throws Exception {
    ChildJvm.Output output = run(DubboApplication.class);

    assertThat(output.text()).contains("heartbeat sent: true").contains("call retried: true");
    assertTimesOut("org.apache.dubbo.common.timer.HashedWheelTimer", 22, output);
  }

  @Test
  void pulsarRunsOnTimewheel() throws Exception {
    assertTimesOut(
        "org.apache.pulsar.shade.io.netty.util.HashedWheelTimer", 1, run(PulsarApplication.class));
  }

  private static ChildJvm.Output run(Class<?> application, String... arguments) throws Exception {
    return ChildJvm.withAgent("tick=1ms,report=exit").run(application, arguments);
  }

  private static void assertTimesOut(String timer, int expired, ChildJvm.Output output) {
    assertThat(output.text())
        .contains("[timewheel-agent] replaced " + timer + " of file:")
        .contains("timed out: 20")
        .contains("early: 0");
    String figures =
        output.lines().stream().filter(line -> line.contains(timer + ": ")).findAny().orElse("");
    assertThat(figures.replaceAll(".* (\\d+) expired.*", "$1"))
        .satisfies(count -> assertThat(Integer.parseInt(count)).isGreaterThanOrEqualTo(expired));
    assertThat(output.exitCode()).as(output.text()).isZero();
  }
}
