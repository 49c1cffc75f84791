// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testing;

import java.util.concurrent.ThreadLocalRandom;

/**
 * The seed of random tests. It is always the same, so that no test fails on an input that nobody
 * chose. {@code -Dtimewheel.seed=N} sets another seed, and {@code -Dtimewheel.seed=random} a random
 * one, which is printed.
 */
public final class Seed {
  private static final String PROPERTY = "timewheel.seed";
  private static final long SEED = seed(System.getProperty(PROPERTY, "1"));

  private Seed() {}

  /** Returns the seed of this JVM. */
  public static long get() {
    return SEED;
  }

  private static long seed(String setting) {
    if (!setting.equals("random")) {
      return Long.parseLong(setting);
    }
    long seed = ThreadLocalRandom.current().nextLong();
    System.out.println("-D" + PROPERTY + "=" + seed);
    return seed;
  }
}
