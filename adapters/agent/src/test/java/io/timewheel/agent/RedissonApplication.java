// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.time.Duration;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisTimeoutException;
import org.redisson.config.Config;

/**
 * Holds a lock that Redisson's timer renews. Then pauses the Redis server at the port in the first
 * argument, and sends commands that time out.
 */
final class RedissonApplication {
  /** Redisson renews a lock after a third of this time. */
  private static final int LOCK_MILLIS = 6_000;

  private RedissonApplication() {}

  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[0]);
    RedissonClient patient = client(port, Duration.ofMinutes(1));
    RedissonClient hasty = client(port, UnansweredRequests.LIMIT);
    System.out.println("lock renewed: " + isRenewed(patient.getLock("lock")));
    RedisServer.pause(port);
    UnansweredRequests.send(() -> hasty.getBucket("key").getAsync(), RedisTimeoutException.class);
    hasty.shutdown();
    patient.shutdown();
  }

  private static RedissonClient client(int port, Duration timeout) {
    Config config = new Config();
    config.setLockWatchdogTimeout(LOCK_MILLIS);
    config
        .useSingleServer()
        .setAddress("redis://127.0.0.1:" + port)
        .setTimeout((int) timeout.toMillis())
        .setRetryAttempts(0);
    return Redisson.create(config);
  }

  /** Waits until the lock has more time left than before, or has expired. */
  private static boolean isRenewed(RLock lock) {
    lock.lock();
    long before = LOCK_MILLIS;
    long left = lock.remainTimeToLive();
    while (left > 0 && left <= before) {
      before = left;
      left = lock.remainTimeToLive();
    }
    return left > before;
  }
}
