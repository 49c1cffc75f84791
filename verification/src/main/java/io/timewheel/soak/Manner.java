// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import java.util.SplittableRandom;

/** How a task behaves when it is run. */
enum Manner {
  PLAIN,
  /** Throws an exception, from {@code cancelled} too. */
  THROWS,
  /** Throws an error. */
  FAILS,
  /** Interrupts the thread that it runs on. */
  INTERRUPTS,
  /** Holds its thread up, if that was not done a moment ago. */
  STALLS;

  private static final Manner[] ALL = values();

  /** Mostly plain. */
  static Manner random(SplittableRandom random) {
    int dice = random.nextInt(1000);
    return dice < ALL.length ? ALL[dice] : PLAIN;
  }
}
