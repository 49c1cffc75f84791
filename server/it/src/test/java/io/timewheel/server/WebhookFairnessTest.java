// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static io.timewheel.durable.model.TimerState.COMPLETED;
import static io.timewheel.durable.model.TimerState.RUNNING;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.TimerState;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.webhook.AddressPolicy;
import io.timewheel.server.webhook.DeliveryName;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One host answers while many others never do. */
class WebhookFairnessTest {
  private static final int SLOW_HOSTS = 512;
  private static final int TIMERS_OF_A_HOST = 4;

  @TempDir private Path directory;

  private static TimerSpec spec(String namespace, String id, String host, int port) {
    return TimerSpec.of(namespace, id)
        .handler(DeliveryName.handler(host, namespace))
        .headers(
            Map.of(
                ":url", "http://" + host + ":" + port + "/", ":secret", "shop", ":timeout", "PT1M"))
        .after(Duration.ZERO);
  }

  @Test
  void slowHostsDelayNoOtherHostAndUseUpNoAttemptOfWaitingTimers() throws IOException {
    AddressPolicy loopback = AddressPolicy.admitting(List.of(Cidr.parse("127.0.0.0/8")));
    try (ServerSocket silent = new ServerSocket(0, 4_096, InetAddress.getByName("0.0.0.0"));
        Receiver receiver = new Receiver();
        Running running = new Running(Running.secrets(directory, "shop"), loopback)) {
      List<TimerSpec> slow = new ArrayList<>();
      for (int i = 0; i < SLOW_HOSTS * TIMERS_OF_A_HOST; i++) {
        int host = i % SLOW_HOSTS;
        String address = "127.1." + host / 250 + "." + (1 + host % 250);
        slow.add(spec("slow", "t" + i, address, silent.getLocalPort()));
      }
      running.scheduler.scheduleAll(slow).forEach(result -> assertThat(result.error()).isNull());
      Await.until(() -> count(running, "slow", RUNNING) >= SLOW_HOSTS);
      for (String namespace : List.of("slow", "other")) {
        for (int i = 0; i < 20; i++) {
          running.scheduler.schedule(spec(namespace, "quick" + i, "127.0.0.1", receiver.port()));
        }
        Await.until(() -> count(running, namespace, COMPLETED) >= 20);
      }
      assertThat(receiver.calls).hasSize(40);
      assertThat(count(running, "slow", TimerState.FAILED)).isZero();
      assertThat(count(running, "slow", TimerState.RETRYING)).isZero();
    }
  }

  private static long count(Running running, String namespace, TimerState state) {
    return running.scheduler.counts().getOrDefault(namespace, Map.of()).getOrDefault(state, 0L);
  }
}
