// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Random;

/** The machine's clock, wrong by an amount that jumps now and then. */
final class WrongClock implements InstantSource {
  private static final long JUMP_MILLIS = 300;

  private final int maxMillis;
  private final Random random;
  private long jumpAtMillis;
  private int wrongMillis;

  WrongClock(int maxMillis, Random random) {
    this.maxMillis = maxMillis;
    this.random = random;
  }

  @Override
  public synchronized Instant instant() {
    Instant now = InstantSource.system().instant();
    if (maxMillis > 0 && now.toEpochMilli() >= jumpAtMillis) {
      jumpAtMillis = now.toEpochMilli() + random.nextLong(2 * JUMP_MILLIS);
      wrongMillis = random.nextInt(2 * maxMillis) - maxMillis;
    }
    return now.plusMillis(wrongMillis);
  }
}
