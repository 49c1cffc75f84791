// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks.database;

import com.sun.management.OperatingSystemMXBean;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import java.lang.management.ManagementFactory;
import java.util.stream.Stream;

/** Processor time, in nanoseconds. */
final class Cpu {
  private Cpu() {}

  /** What all processes of a server that are alive have used. */
  static long ofServer(DatabaseServer server) {
    ProcessHandle main = ProcessHandle.of(server.pid()).orElseThrow();
    return Stream.concat(Stream.of(main), main.descendants())
        .mapToLong(process -> process.info().totalCpuDuration().map(d -> d.toNanos()).orElse(0L))
        .sum();
  }

  static long ofThisJvm() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
