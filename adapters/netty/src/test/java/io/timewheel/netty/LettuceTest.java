// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.resource.ClientResources;
import io.timewheel.HierarchicalWheelTimer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests Lettuce on a {@link NettyTimer}, against a real server. */
@Tag("client")
class LettuceTest {
  @TempDir private Path directory;

  @Test
  void commandsAreTimedByOurTimer() throws Exception {
    String skipped = "SKIPPED: there is no redis-server on the PATH, so Lettuce was not tested";
    if (!RedisServer.isInstalled()) {
      System.err.println(skipped); // surefire does not print why a test was skipped
    }
    assumeTrue(RedisServer.isInstalled(), skipped);

    try (HierarchicalWheelTimer timer = HierarchicalWheelTimer.create();
        RedisServer server = RedisServer.start(directory)) {
      ClientResources resources = ClientResources.builder().timer(new NettyTimer(timer)).build();
      RedisURI uri =
          RedisURI.builder()
              .withHost("127.0.0.1")
              .withPort(server.port())
              .withTimeout(Duration.ofHours(1))
              .build();
      RedisClient client = RedisClient.create(resources, uri);
      try {
        client.setOptions(options());
        commandsAreTimedBy(timer, client);
      } finally {
        client.shutdown();
        resources.shutdown().get();
      }
      assertThat(timer.isStopped()).as("Lettuce stopped a timer that is not its own").isFalse();
    }
  }

  /** Returns options with a short timeout for blocking commands only. */
  private static ClientOptions options() {
    return ClientOptions.builder()
        .socketOptions(SocketOptions.builder().connectTimeout(Duration.ofHours(1)).build())
        .timeoutOptions(
            TimeoutOptions.builder()
                .timeoutSource(
                    new TimeoutOptions.TimeoutSource() {
                      @Override
                      public long getTimeout(RedisCommand<?, ?, ?> command) {
                        boolean blocks = command.getType() == CommandType.BLPOP;
                        return (blocks ? Duration.ofMillis(100) : Duration.ofHours(1)).toMillis();
                      }
                    })
                .build())
        .build();
  }

  private static void commandsAreTimedBy(HierarchicalWheelTimer timer, RedisClient client)
      throws Exception {
    try (StatefulRedisConnection<String, String> connection = client.connect()) {
      connection.async().set("key", "value").get();
      assertThat(connection.async().get("key").get()).isEqualTo("value");
      assertThat(timer.stats().started()).isPositive();
      long expiredBefore = timer.stats().expired();

      assertThatExceptionOfType(ExecutionException.class)
          .isThrownBy(() -> connection.async().blpop(0, "nothing is ever pushed here").get())
          .withCauseInstanceOf(RedisCommandTimeoutException.class);
      assertThat(timer.stats().expired()).isGreaterThan(expiredBefore);
      assertThat(NettyWorkers.running()).isEmpty();
    }
  }
}
