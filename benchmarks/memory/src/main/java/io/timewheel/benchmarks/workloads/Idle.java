// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.timewheel.benchmarks.subjects.Subject;
import io.timewheel.benchmarks.subjects.SubjectKind;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;

/** Measures the work of a timer while nothing is due. */
final class Idle {
  private static final Path TASKS = Path.of("/proc/self/task");

  private Idle() {}

  static Map<String, Double> measure(SubjectKind kind, Subject subject, Parameters parameters)
      throws InterruptedException {
    long windowNanos = MILLISECONDS.toNanos(parameters.windowMillis());
    Object[] handles = Figures.keep(parameters.count());
    Load.fill(handles, subject, parameters);
    // Starts the thread, if it has not been started.
    subject.cancel(subject.start(subject.task(() -> {}), HOURS.toNanos(2)));
    System.gc();
    // This will never be complete.
    Expiries never = new Expiries(1);
    never.await(
        subject, kind.isPolled(), System.nanoTime() + Math.min(windowNanos, SECONDS.toNanos(1)));

    OptionalLong switches = contextSwitches();
    long wakeups = subject.wakeups();
    long startNanos = System.nanoTime();
    CpuTime began = CpuTime.now();
    never.await(subject, kind.isPolled(), startNanos + windowNanos);
    long cpuNanos = CpuTime.now().since(began);
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    OptionalLong switchesAfter = contextSwitches();

    Map<String, Double> metrics = new LinkedHashMap<>();
    metrics.put("seconds", seconds);
    metrics.put("cpuMillis", cpuNanos / 1e6);
    if (switches.isPresent() && switchesAfter.isPresent()) {
      metrics.put("contextSwitches", (double) (switchesAfter.getAsLong() - switches.getAsLong()));
    }
    if (wakeups >= 0) {
      metrics.put("wakeups", (double) (subject.wakeups() - wakeups));
    }
    return metrics;
  }

  /**
   * Returns the context switches of all threads of this process; empty if the system does not
   * report them.
   */
  private static OptionalLong contextSwitches() {
    if (!Files.isDirectory(TASKS)) {
      return OptionalLong.empty();
    }
    long sum = 0;
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
      for (Path task : tasks) {
        sum += contextSwitches(task.resolve("status"));
      }
      return OptionalLong.of(sum);
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  private static long contextSwitches(Path status) {
    try {
      return Files.readAllLines(status).stream()
          .filter(line -> line.contains("ctxt_switches:"))
          .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
          .sum();
    } catch (IOException e) {
      return 0; // this thread has just ended
    }
  }
}
