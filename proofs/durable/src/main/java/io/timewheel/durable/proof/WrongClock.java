// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Random;

/** The machine's clock with an error that changes at random. */
final class WrongClock implements InstantSource {
  private static final long OFTEN_MILLIS = 300;

  private final int maxMillis;
  private final long jumpEveryMillis;
  private final Random random;
  private long jumpAtMillis;
  private int wrongMillis;

  WrongClock(int maxMillis, Random random) {
    this(maxMillis, OFTEN_MILLIS, random);
  }

  /**
   * Creates a clock.
   *
   * @param maxMillis the largest error, in both directions
   * @param jumpEveryMillis the average time between jumps
   */
  WrongClock(int maxMillis, long jumpEveryMillis, Random random) {
    this.maxMillis = maxMillis;
    this.jumpEveryMillis = jumpEveryMillis;
    this.random = random;
  }

  @Override
  public synchronized Instant instant() {
    Instant now = InstantSource.system().instant();
    if (maxMillis > 0 && now.toEpochMilli() >= jumpAtMillis) {
      jumpAtMillis = now.toEpochMilli() + random.nextLong(2 * jumpEveryMillis);
      wrongMillis = random.nextInt(2 * maxMillis) - maxMillis;
    }
    return now.plusMillis(wrongMillis);
  }
}
