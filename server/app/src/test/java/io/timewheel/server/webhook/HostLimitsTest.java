// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.server.settings.Limits;
import io.timewheel.server.webhook.HostLimits.Permit;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostLimitsTest {
  @TempDir private Path directory;

  @Test
  void aRefusedDeliveryWaitsBeforeItAsksTheStoreAgain() throws Exception {
    Path file = Files.writeString(directory.resolve("limits"), "host a concurrency=1\n");
    HostLimits limits = new HostLimits(Limits.open(file));
    assertThat(limits.acquire("a").delay()).as("no timer yet").isEqualTo(Duration.ofSeconds(1));
    try (DurableTimer scheduler = DurableTimer.builder(InMemoryTimerStore.create()).start()) {
      limits.serve(scheduler);
      Permit first = limits.acquire("a");
      assertThat(first.delay()).isZero();
      assertThat(limits.acquire("A").delay()).isEqualTo(Duration.ofMillis(100));
      assertThat(limits.acquire("b").delay()).as("without a limit").isZero();
      limits.release("a", first).join();
      assertThat(limits.acquire("a").delay()).isZero();
    }
  }

  /** A release is a commit, which may block for long. */
  @Test
  void aReleaseHasAThreadOfItsOwn() throws Exception {
    Path file = Files.writeString(directory.resolve("limits"), "host a concurrency=1\n");
    HostLimits limits = new HostLimits(Limits.open(file));
    List<String> threads = new CopyOnWriteArrayList<>();
    ForwardingTimerStore store =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public void release(String name, String holder) {
            threads.add(Thread.currentThread().getName());
            super.release(name, holder);
          }
        };
    try (DurableTimer scheduler = DurableTimer.builder(store).start()) {
      limits.serve(scheduler);
      limits.release("a", limits.acquire("a")).join();
    }
    assertThat(threads).containsExactly("timewheel-host-limits");
  }
}
