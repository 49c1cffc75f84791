// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.HashedWheelTimer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Verifies that {@link NettyWorkers} detects a thread of Netty's own timer. */
class NettyWorkersTest {
  @Test
  void seesAWorkerOfNettysTimer() {
    HashedWheelTimer timer = new HashedWheelTimer(1, MILLISECONDS);
    CompletableFuture<List<Thread>> seen = new CompletableFuture<>();
    timer.newTimeout(timeout -> seen.complete(NettyWorkers.running()), 1, MILLISECONDS);

    assertThat(seen.join()).hasSize(1);

    timer.stop();
    assertThat(NettyWorkers.running()).isEmpty();
  }
}
