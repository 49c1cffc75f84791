// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** A random delay: from the next tick to never, mostly longer than the life of its timeout. */
record Delay(long amount, TimeUnit unit) {
  static Delay random(SplittableRandom random) {
    int dice = random.nextInt(100);
    if (dice < 65) {
      return new Delay(random.nextLong(60, 3600), TimeUnit.SECONDS);
    } else if (dice < 82) {
      return new Delay(random.nextLong(1_000, 60_000), TimeUnit.MILLISECONDS);
    } else if (dice < 93) {
      return new Delay(random.nextLong(1, 1_000_000), TimeUnit.MICROSECONDS);
    } else if (dice < 96) {
      return new Delay(random.nextLong(1, 2_000_000), TimeUnit.NANOSECONDS);
    } else if (dice < 97) {
      return new Delay(-random.nextLong(0, 10), TimeUnit.HOURS);
    } else if (dice < 99) {
      return new Delay(random.nextLong(1, 100_000), TimeUnit.DAYS);
    }
    return new Delay(random.nextBoolean() ? Long.MAX_VALUE : Long.MIN_VALUE, TimeUnit.SECONDS);
  }

  /** Returns a delay so long that every place is pending at first. */
  static Delay randomLong(SplittableRandom random) {
    return new Delay(random.nextLong(600, 3600), TimeUnit.SECONDS);
  }
}
