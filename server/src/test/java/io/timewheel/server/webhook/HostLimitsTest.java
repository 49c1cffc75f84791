// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.server.settings.Limits;
import io.timewheel.server.webhook.HostLimits.Permit;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostLimitsTest {
  @TempDir private Path directory;

  @Test
  void aRefusedDeliveryWaitsBeforeItAsksTheStoreAgain() throws Exception {
    Path file = Files.writeString(directory.resolve("limits"), "host a concurrency=1\n");
    HostLimits limits = new HostLimits(Limits.open(file));
    assertThat(limits.acquire("a").delay()).as("no timer yet").isEqualTo(Duration.ofSeconds(1));
    try (DurableTimer timer = DurableTimer.builder(InMemoryTimerStore.create()).start()) {
      limits.serve(timer);
      Permit first = limits.acquire("a");
      assertThat(first.delay()).isZero();
      assertThat(limits.acquire("A").delay()).isEqualTo(Duration.ofMillis(100));
      assertThat(limits.acquire("b").delay()).as("without a limit").isZero();
      limits.release("a", first).join();
      assertThat(limits.acquire("a").delay()).isZero();
    }
  }
}
