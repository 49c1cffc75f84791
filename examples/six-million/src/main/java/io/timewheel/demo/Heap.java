// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/** Measures the heap: the used bytes, whether there are enough, and the time of the collector. */
final class Heap {
  /**
   * The memory of the demonstration per timeout, in bytes. It includes 40 for the timeout, 12 for
   * its delay and its handle, and up to 30 for the set that {@code stop()} returns. The rest is
   * space for the collector.
   */
  private static final int BYTES_PER_TIMEOUT = 110;

  private static final long MEGABYTE = 1L << 20;
  private static final long BASE_BYTES = 32 * MEGABYTE;

  private Heap() {}

  /** Returns the bytes used by reachable objects. */
  static long usedBytes() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  /** Returns the total time of garbage collection. */
  static long collectionMillis() {
    long millis = 0;
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      millis += Math.max(0, collector.getCollectionTime());
    }
    return millis;
  }

  static boolean suffices(int timeouts) {
    return Runtime.getRuntime().maxMemory() >= neededBytes(timeouts);
  }

  static String advice(int timeouts) {
    return """
    %s timeouts do not fit into the heap: they need about %s MB, and it has %s.
    Give Java more, as in: java -Xmx%sm -jar six-million.jar
    or start fewer, as in: java -jar six-million.jar --timeouts %d\
    """
        .formatted(
            Format.count(timeouts),
            Format.count(neededBytes(timeouts) / MEGABYTE),
            Format.count(Runtime.getRuntime().maxMemory() / MEGABYTE),
            neededBytes(timeouts) * 5 / 4 / MEGABYTE,
            Math.max(1, timeouts / 4));
  }

  private static long neededBytes(int timeouts) {
    return BASE_BYTES + (long) BYTES_PER_TIMEOUT * timeouts;
  }
}
