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

/** The snippets of docs/MIGRATING.md, which DocumentationTest compares with this file. */
@Tag("client")
class MigratingTest {
  @Test
  void asyncHttpClient() {
    try (HierarchicalWheelTimer wheel = HierarchicalWheelTimer.create()) {
      // begin: async-http-client
      AsyncHttpClientConfig config =
          new DefaultAsyncHttpClientConfig.Builder().setNettyTimer(new NettyTimer(wheel)).build();
      // end
      assertThat(config.getNettyTimer()).isInstanceOf(NettyTimer.class);
    }
  }

  @Test
  void lettuce() throws Exception {
    try (HierarchicalWheelTimer wheel = HierarchicalWheelTimer.create()) {
      // begin: lettuce
      ClientResources resources = ClientResources.builder().timer(new NettyTimer(wheel)).build();
      // end
      assertThat(resources.timer()).isInstanceOf(NettyTimer.class);
      resources.shutdown().get();
      assertThat(wheel.isStopped()).isFalse();
    }
  }

  @Test
  void nettysClass() {
    // begin: class
    HashedWheelTimer timer = new NettyHashedWheelTimer(HierarchicalWheelTimer.create());
    // end
    assertThat(timer.stop()).isEmpty();
  }

  @Test
  void limit() {
    // begin: settings
    Timer timer =
        new NettyTimer(
            HierarchicalWheelTimer.builder()
                .tick(Duration.ofMillis(10))
                .maxPendingTimeouts(1_000_000)
                .name("requests")
                .build());
    // end
    assertThat(timer.stop()).isEmpty();
  }
}
