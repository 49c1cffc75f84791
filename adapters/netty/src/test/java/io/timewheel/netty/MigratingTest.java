// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.resource.ClientResources;
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timer;
import io.timewheel.HierarchicalWheelTimer;
import java.time.Duration;
import org.asynchttpclient.AsyncHttpClientConfig;
import org.asynchttpclient.DefaultAsyncHttpClientConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The code in docs/migrate/memory.md; a test of the examples compares the two. */
@Tag("client")
class MigratingTest {
  @Test
  void asyncHttpClient() {
    try (HierarchicalWheelTimer wheel = HierarchicalWheelTimer.create()) {
      AsyncHttpClientConfig config =
          new DefaultAsyncHttpClientConfig.Builder().setNettyTimer(new NettyTimer(wheel)).build();
      assertThat(config.getNettyTimer()).isInstanceOf(NettyTimer.class);
    }
  }

  @Test
  void lettuce() throws Exception {
    try (HierarchicalWheelTimer wheel = HierarchicalWheelTimer.create()) {
      ClientResources resources = ClientResources.builder().timer(new NettyTimer(wheel)).build();
      assertThat(resources.timer()).isInstanceOf(NettyTimer.class);
      resources.shutdown().get();
      assertThat(wheel.isStopped()).isFalse();
    }
  }

  @Test
  void nettysClass() {
    HashedWheelTimer timer = new NettyHashedWheelTimer(HierarchicalWheelTimer.create());
    assertThat(timer.stop()).isEmpty();
  }

  @Test
  void limit() {
    Timer timer =
        new NettyTimer(
            HierarchicalWheelTimer.builder()
                .tick(Duration.ofMillis(10))
                .maxPendingTimeouts(1_000_000)
                .name("requests")
                .build());
    assertThat(timer.stop()).isEmpty();
  }
}
