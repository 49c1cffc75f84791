// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import io.timewheel.benchmarks.subjects.Keyed;
import java.util.LinkedHashMap;
import java.util.Map;

/** Measures many timeouts with keys: adding, memory, postponing in random order, and removing. */
final class Patterns {
  /** How often each key is touched, approximately. */
  private static final int WARM_UP = 2;

  private static final int TOUCHES = 5;

  private Patterns() {}

  static Map<String, Double> measure(Keyed keyed, Parameters parameters)
      throws InterruptedException {
    int count = parameters.count();
    Object[] keys = Figures.keep(count);
    for (int i = 0; i < count; i++) {
      keys[i] = (long) i;
    }
    long emptyBytes = Figures.liveBytes();
    long startNanos = System.nanoTime();
    for (Object key : keys) {
      keyed.add((Long) key);
    }
    long addNanos = System.nanoTime() - startNanos;
    // Some subjects pass their timeouts to their thread through a queue, which must be empty by
    // then.
    Thread.sleep(100L + count / 10_000);
    long bytes = Figures.liveBytes() - emptyBytes;

    Map<String, Double> metrics = new LinkedHashMap<>();
    metrics.put("nanosPerAdd", (double) addNanos / count);
    metrics.put("heapBytesPerEntry", (double) bytes / count);
    if (keyed instanceof Keyed.Touched touched) {
      touch(touched, count, WARM_UP);
      CpuTime began = CpuTime.now();
      touch(touched, count, TOUCHES);
      Thread.sleep(20); // and work that was left to a thread of the timer
      metrics.put("cpuNanosPerTouch", CpuTime.now().since(began) / ((double) TOUCHES * count));
    }
    startNanos = System.nanoTime();
    for (Object key : keys) {
      keyed.remove((Long) key);
    }
    metrics.put("nanosPerRemove", (double) (System.nanoTime() - startNanos) / count);
    return metrics;
  }

  /**
   * Touches keys. Each key is another object than the one that was added, as if it had been
   * received.
   */
  private static void touch(Keyed.Touched keyed, int count, int times) {
    long random = 42;
    for (long i = (long) times * count; i > 0; i--) {
      random = random * 6364136223846793005L + 1442695040888963407L;
      keyed.touch(((random >>> 33) * count) >>> 31);
    }
  }
}
