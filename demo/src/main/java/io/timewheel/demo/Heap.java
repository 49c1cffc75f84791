// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/** The heap: how much of it is used, whether there is enough, and what the collector takes. */
final class Heap {
  /**
   * What the demonstration takes for each timeout: 40 bytes for the timeout, 12 for its delay and
   * its handle, up to 30 for the set that {@code stop()} returns, and room for the collector.
   */
  private static final int BYTES_PER_TIMEOUT = 110;

  private static final long MEGABYTE = 1L << 20;
  private static final long BASE_BYTES = 32 * MEGABYTE;

  private Heap() {}

  /** The bytes used by what can still be reached. */
  static long usedBytes() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  /** For how long garbage has been collected, in all. */
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
