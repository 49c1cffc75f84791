// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import io.timewheel.benchmarks.results.Machine;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Describes the machine, the JVM and the sources of the measurements. */
final class Surroundings {
  private Surroundings() {}

  static Machine machine() {
    OperatingSystemMXBean os = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    return new Machine(
        Runtime.getRuntime().availableProcessors(),
        cpuModel(),
        os.getTotalMemorySize(),
        os.getName() + " " + os.getVersion());
  }

  private static String cpuModel() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse(System.getProperty("os.arch"));
    } catch (IOException e) {
      return System.getProperty("os.arch");
    }
  }

  /** Returns the commit, with a plus sign if the sources differ from it; null if it is unknown. */
  static @Nullable String commit() throws InterruptedException {
    String commit = git("rev-parse", "HEAD");
    String changes = git("status", "--porcelain", "--untracked-files=no");
    return commit == null ? null : commit + (changes == null || changes.isEmpty() ? "" : "+");
  }

  private static @Nullable String git(String... arguments) throws InterruptedException {
    try {
      Process process =
          new ProcessBuilder(Stream.concat(Stream.of("git"), Stream.of(arguments)).toList())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.waitFor() == 0 ? answer.strip() : null;
    } catch (IOException e) {
      return null;
    }
  }
}
