// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import java.util.SplittableRandom;

/** The behaviour of a task when it runs. */
enum Manner {
  PLAIN,
  /** Throws an exception, from {@code cancelled} too. */
  THROWS,
  /** Throws an error. */
  FAILS,
  /** Interrupts the thread that it runs on. */
  INTERRUPTS,
  /** Blocks its thread, unless the interval between two stalls has not passed. */
  STALLS;

  private static final Manner[] ALL = values();

  /** Returns a random behaviour, in most cases the plain one. */
  static Manner random(SplittableRandom random) {
    int dice = random.nextInt(1000);
    return dice < ALL.length ? ALL[dice] : PLAIN;
  }
}
