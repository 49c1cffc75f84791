// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.migrating;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.testkit.DurableTestkit;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.protocol.ScoredEntry;
import org.redisson.config.Config;

/**
 * Runs the loop about Redisson in docs/migrate/queues.md on a Redis server; DocumentationTest
 * compares the two.
 */
@Timeout(60)
@SuppressWarnings("FutureReturnValueIgnored") // the result is visible in the timer
final class RedissonMigrationTest {
  private static final Path SERVER = Path.of("/usr/bin/redis-server");

  private final DurableTestkit kit = DurableTestkit.create();
  private final DurableTimer scheduler = kit.start(InMemoryTimerStore.create(), builder -> {});
  private final List<String> claimed = new ArrayList<>();

  /** An element, which Redisson's default codec encodes. */
  record Order(String id) {}

  @Test
  @SuppressWarnings("deprecation") // the reason to move
  void movesPendingElements(@TempDir Path directory) throws IOException {
    ServerProcess.assumeInstalled("redis-server", SERVER);
    try (ServerProcess server = startRedis(directory)) {
      RedissonClient redisson = connect(server.port());
      Instant now = Instant.now();
      RDelayedQueue<Order> delayed = redisson.getDelayedQueue(redisson.getBlockingQueue("unpaid"));
      delayed.offer(new Order("order-42"), 30, TimeUnit.MINUTES);
      delayed.offer(new Order("order-43"), 300, TimeUnit.DAYS);
      int pending = delayed.size();
      delayed.destroy();

      int moved = move(redisson);

      assertThat(moved).isEqualTo(pending).isEqualTo(2);
      assertThat(scheduler.timer("shop", "order-42").get().orElseThrow().dueAt())
          .isBetween(now.plus(Duration.ofMinutes(30)), Instant.now().plus(Duration.ofMinutes(30)));
      assertThat(move(redisson)).isEqualTo(2); // nothing was deleted
      redisson.shutdown();
    }

    scheduler.timer("shop", "order-42").runNow();
    kit.settle();
    scheduler
        .async()
        .queue("shop", "unpaid")
        .claim(10, Duration.ofSeconds(30), Duration.ZERO)
        .thenAccept(
            due -> {
              for (QueueFiring order : due) {
                claimed.add(order.firing().id());
              }
            });
    kit.settle();
    assertThat(claimed).containsExactly("order-42");
  }

  private int move(RedissonClient redisson) throws IOException {
    // begin
    int moved = 0;
    RScoredSortedSet<byte[]> pending =
        redisson.getScoredSortedSet(
            "redisson_delay_queue_timeout:{unpaid}", ByteArrayCodec.INSTANCE);
    for (ScoredEntry<byte[]> entry : pending.entryRange(0, -1)) {
      ByteBuffer bytes = ByteBuffer.wrap(entry.getValue()).order(ByteOrder.LITTLE_ENDIAN);
      bytes.position(1 + Byte.toUnsignedInt(bytes.get(0))); // skips a random ID, after its length
      byte[] value = new byte[(int) bytes.getLong()];
      bytes.get(value);
      Order order =
          (Order)
              redisson
                  .getConfig()
                  .getCodec()
                  .getValueDecoder()
                  .decode(Unpooled.wrappedBuffer(value), null);
      scheduler.schedule(
          TimerSpec.of("shop", order.id())
              .at(Instant.ofEpochMilli(entry.getScore().longValue()))
              .queue("unpaid")
              .evenIfFinished());
      moved++;
    }
    // end
    return moved;
  }

  private static ServerProcess startRedis(Path directory) throws IOException {
    int port = ServerProcess.freePort();
    return ServerProcess.start(
        port,
        Map.of(),
        "Ready to accept connections",
        SERVER.toString(),
        "--bind",
        "127.0.0.1",
        "--port",
        "" + port,
        "--save",
        "",
        "--dir",
        directory.toString());
  }

  private static RedissonClient connect(int port) {
    Config config = new Config();
    config
        .useSingleServer()
        .setAddress("redis://127.0.0.1:" + port)
        .setConnectionPoolSize(2)
        .setConnectionMinimumIdleSize(1);
    return Redisson.create(config);
  }
}
