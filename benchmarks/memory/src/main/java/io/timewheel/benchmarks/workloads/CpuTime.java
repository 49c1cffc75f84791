// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * The CPU time of the whole process until a moment: of the timer, its callers, the compiler and the
 * collector.
 *
 * <p>On Linux it is the sum over the threads, in nanoseconds. The time of threads that have ended
 * meanwhile is lost. Elsewhere it is the value of the JVM, which may have a resolution of 10 ms.
 */
final class CpuTime {
  private static final Path TASKS = Path.of("/proc/self/task");
  private static final boolean BY_THREAD = Files.isReadable(Path.of("/proc/self/schedstat"));
  private static final OperatingSystemMXBean OS =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private final Map<String, Long> nanosByThread;

  private CpuTime(Map<String, Long> nanosByThread) {
    this.nanosByThread = nanosByThread;
  }

  static CpuTime now() {
    return new CpuTime(BY_THREAD ? threads() : Map.of("all", OS.getProcessCpuTime()));
  }

  private static Map<String, Long> threads() {
    Map<String, Long> nanos = new HashMap<>();
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
      for (Path task : tasks) {
        try {
          String line = Files.readString(task.resolve("schedstat"));
          nanos.put(task.toString(), Long.valueOf(line.substring(0, line.indexOf(' '))));
        } catch (IOException e) {
          // This thread has just ended.
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return nanos;
  }

  /** {@return the CPU time from {@code then} until this moment, in nanoseconds} */
  long since(CpuTime then) {
    return nanosByThread.entrySet().stream()
        .mapToLong(
            thread -> thread.getValue() - then.nanosByThread.getOrDefault(thread.getKey(), 0L))
        .sum();
  }
}
