// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import java.lang.management.ManagementFactory;

/**
 * Measures the heap after full collections, and subtracts the timeouts themselves. If a timer kept
 * timeouts that have ended, the difference would grow.
 */
final class HeapWatch {
  /** The size of a timeout, its task, and the reference to it. */
  private static final long BYTES_PER_PLACE = 40 + 32 + 4;

  /**
   * The accepted growth: the memory of the JVM and of the library itself varies by some megabytes.
   */
  private static final long ALLOWED_GROWTH_BYTES = 16L << 20;

  private long firstBesidesBytes = -1;
  private long firstUsedBytes;
  private long lastUsedBytes;
  private long mostGrowthBytes;

  /**
   * Collects garbage, and checks the heap.
   *
   * @param taken how many places hold a timeout, pending or not
   */
  void look(long taken, Violations violations) {
    System.gc();
    lastUsedBytes = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    long besidesBytes = lastUsedBytes - taken * BYTES_PER_PLACE;
    if (firstBesidesBytes < 0) {
      firstBesidesBytes = besidesBytes;
      firstUsedBytes = lastUsedBytes;
    }
    long growthBytes = besidesBytes - firstBesidesBytes;
    mostGrowthBytes = Math.max(mostGrowthBytes, growthBytes);
    violations.check(
        growthBytes <= ALLOWED_GROWTH_BYTES,
        String.format(
            "the heap has grown by %,d bytes since the first checkpoint (expected: at most %,d)",
            growthBytes, ALLOWED_GROWTH_BYTES));
  }

  String report() {
    return String.format(
        "%,d MB after a full collection at the first checkpoint, %,d MB at the last; "
            + "most growth apart from the timeouts themselves %,.1f MB",
        firstUsedBytes >> 20, lastUsedBytes >> 20, mostGrowthBytes / 1048576.0);
  }
}
