// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ShardTest {
  private final LoneShard lone = new LoneShard();
  private final Shard shard = lone.shard;

  @AfterEach
  void stop() {
    lone.stop();
  }

  /** A handler queue asks under its own lock, which comes after the lock of the shard. */
  @Test
  void isClosedDoesNotWaitForTheLock() {
    CompletableFuture<Boolean> closed;
    shard.lock.lock();
    try {
      closed = CompletableFuture.supplyAsync(shard::isClosed);
      while (!closed.isDone()) {
        assertThat(shard.lock.hasQueuedThreads()).as("waits for the lock").isFalse();
      }
    } finally {
      shard.lock.unlock();
    }
    assertThat(closed.join()).isFalse();
    shard.close();
    assertThat(shard.isClosed()).isTrue();
  }
}
