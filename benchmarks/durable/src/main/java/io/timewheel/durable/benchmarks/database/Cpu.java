// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks.database;

import com.sun.management.OperatingSystemMXBean;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Processor time, in nanoseconds. */
public final class Cpu {
  /** The unit of processor time in Linux, on any hardware. */
  private static final long TICK_NANOS = 10_000_000;

  private Cpu() {}

  /**
   * Returns the processor time of all processes of a server, including those that have ended if
   * Linux reports them.
   */
  public static long ofServer(DatabaseServer server) {
    ProcessHandle main = ProcessHandle.of(server.pid()).orElseThrow();
    return ofEnded(server.pid())
        + Stream.concat(Stream.of(main), main.descendants())
            .mapToLong(
                process -> process.info().totalCpuDuration().map(d -> d.toNanos()).orElse(0L))
            .sum();
  }

  /**
   * Returns the processor time of the ended children that a process has waited for, such as vacuum
   * workers.
   */
  private static long ofEnded(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      // After the name, which may contain blanks: the state, and 10 more fields before utime.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      return TICK_NANOS * (Long.parseLong(fields[13]) + Long.parseLong(fields[14]));
    } catch (IOException e) {
      return 0;
    }
  }

  /** Returns the processor time of this process. */
  public static long ofThisJvm() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
