// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.Handler;
import io.timewheel.durable.model.TimerKey;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Logs that an attempt has started, and ends it in one of the possible ways. */
final class LoggedHandler implements Handler {
  private final Log log;
  private final InstantSource clock;
  private final @Nullable Random random;
  private final Set<TimerKey> begun = ConcurrentHashMap.newKeySet();

  /**
   * Creates a handler.
   *
   * @param random decides how attempts end; null if all succeed
   */
  LoggedHandler(Log log, InstantSource clock, @Nullable Random random) {
    this.log = log;
    this.clock = clock;
    this.random = random;
  }

  /** Returns whether an attempt of a timer has started here, and was meant to succeed. */
  boolean hasBegun(TimerKey key) {
    return begun.contains(key);
  }

  @Override
  public void handle(Firing firing) throws InterruptedException {
    log.began(
        firing.key(),
        firing.version(),
        firing.scheduledAt().toEpochMilli(),
        firing.attempt(),
        System.currentTimeMillis(),
        ByteBuffer.wrap(firing.payload()).getInt());
    if (random == null) {
      begun.add(firing.key());
      return;
    }
    switch (random.nextInt(40)) {
      case 0, 1, 2, 3 -> throw new IllegalStateException("no luck");
      case 4 -> Thread.sleep(random.nextInt(50));
      case 5 -> {
        if (!firing.id().startsWith(LogChecker.RATE)) {
          // Never to an earlier time, even if the clock has jumped back.
          long fromMillis = Math.max(firing.scheduledAt().toEpochMilli(), clock.millis());
          firing.reschedule(Instant.ofEpochMilli(fromMillis + 1 + random.nextInt(500)));
        }
      }
      default -> {}
    }
  }
}
