// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import java.util.ArrayList;
import java.util.List;

/** The violations: their number, and the texts of the first ones. */
final class Violations {
  private static final int KEPT = 20;

  private final List<String> first = new ArrayList<>();
  private long count;

  synchronized void add(String what) {
    count++;
    if (first.size() < KEPT) {
      first.add(what);
    }
  }

  void check(boolean holds, String what) {
    if (!holds) {
      add(what);
    }
  }

  /** Checks that two counts obtained in different ways are equal. */
  void checkEqual(long actual, long expected, String what) {
    if (actual != expected) {
      add(what + ": " + actual + " (expected: " + expected + ")");
    }
  }

  synchronized long count() {
    return count;
  }

  synchronized List<String> first() {
    return List.copyOf(first);
  }
}
