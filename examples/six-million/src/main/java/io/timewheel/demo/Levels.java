// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

/**
 * Counts timeouts by the level of the hierarchical wheel for their remaining time. A level has 256
 * slots, each 256 times as coarse as those of the level below. So the level is the highest byte of
 * the remaining ticks that is not zero.
 */
final class Levels {
  private static final int DIGIT_BITS = Byte.SIZE;
  private static final int MAX_LEVELS = 8;

  private final long tickNanos;
  private final long[] counts = new long[MAX_LEVELS];

  Levels(long tickNanos) {
    this.tickNanos = tickNanos;
  }

  static int levelOf(long ticks) {
    int highestBit = Long.SIZE - 1 - Long.numberOfLeadingZeros(Math.max(1, ticks));
    return highestBit / DIGIT_BITS;
  }

  void add(long remainingNanos) {
    counts[levelOf(remainingNanos / tickNanos)]++;
  }

  long count(int level) {
    return counts[level];
  }

  long total() {
    long total = 0;
    for (long count : counts) {
      total += count;
    }
    return total;
  }

  /** Returns the number of levels up to the highest that has timeouts. */
  int size() {
    int size = MAX_LEVELS;
    while (size > 0 && counts[size - 1] == 0) {
      size--;
    }
    return size;
  }

  /** Returns the times of a level, as in 256 ms to 1.1 min. */
  String range(int level) {
    String end = Format.duration(borderNanos(level + 1));
    return level == 0 ? "up to " + end : Format.duration(borderNanos(level)) + " to " + end;
  }

  private double borderNanos(int level) {
    return Math.pow(1 << DIGIT_BITS, level) * tickNanos;
  }
}
