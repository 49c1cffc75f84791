// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;

/** Threads that keep processors busy without useful work. */
final class BusyCpus implements AutoCloseable {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean closed;

  BusyCpus(int cpus) {
    for (int i = 0; i < cpus; i++) {
      Thread thread = new Thread(this::spin, "busy");
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
  }

  private void spin() {
    while (!closed) {
      Thread.onSpinWait();
    }
  }

  /**
   * {@return the CPU time that these threads have used so far, to be subtracted from the timer's}
   */
  long cpuNanos() {
    return threads.stream().mapToLong(thread -> THREADS.getThreadCpuTime(thread.getId())).sum();
  }

  @Override
  public void close() {
    closed = true;
  }
}
