// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;

/** Pauses the Redis server at the port in the first argument, and sends commands that time out. */
final class LettuceApplication {
  private LettuceApplication() {}

  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[0]);
    RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", port));
    client.setOptions(
        ClientOptions.builder()
            .timeoutOptions(TimeoutOptions.enabled(UnansweredRequests.LIMIT))
            .build());
    StatefulRedisConnection<String, String> connection = client.connect();
    RedisServer.pause(port);
    UnansweredRequests.send(
        () -> connection.async().get("key"), RedisCommandTimeoutException.class);
    connection.close();
    client.shutdown();
  }
}
