// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.util.Map;

/**
 * Measures the processor time of this process and of the server, from its creation until it stops.
 */
final class CpuMeter {
  private final Place place;
  private final long startNanos = System.nanoTime();
  private long clientNanos = -Figures.cpuNanos();
  private long serverNanos;
  private long nanos;

  CpuMeter(Place place) {
    this.place = place;
    serverNanos = -place.serverCpuNanos();
  }

  CpuMeter stop() {
    clientNanos += Figures.cpuNanos();
    serverNanos += place.serverCpuNanos();
    nanos = System.nanoTime() - startNanos;
    return this;
  }

  /** Adds the microseconds per item to figures. */
  void putMicros(Map<String, Double> figures, double count) {
    figures.put("cpuMicros", clientNanos / 1e3 / Math.max(1, count));
    figures.put("serverMicros", serverNanos / 1e3 / Math.max(1, count));
  }

  /** Adds the number of busy processors to figures. */
  void putCores(Map<String, Double> figures) {
    figures.put("clientCores", clientNanos / (double) nanos);
    figures.put("serverCores", serverNanos / (double) nanos);
  }
}
