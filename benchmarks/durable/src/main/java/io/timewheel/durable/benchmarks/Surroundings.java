// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Describes the machine and the sources of the measurements. */
final class Surroundings {
  private Surroundings() {}

  static String machine() {
    OperatingSystemMXBean os = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    return "%d processors, %d GB, %s %s, JDK %s"
        .formatted(
            os.getAvailableProcessors(),
            Math.round(os.getTotalMemorySize() / (double) (1 << 30)),
            os.getName(),
            os.getVersion(),
            Runtime.version());
  }

  /** Returns the commit, with a plus sign if the sources differ from it; null if it is unknown. */
  static @Nullable String commit() throws InterruptedException {
    String commit = git("rev-parse", "--short=12", "HEAD");
    String changes = git("status", "--porcelain", "--untracked-files=no");
    return commit == null ? null : commit + (changes == null || changes.isEmpty() ? "" : "+");
  }

  private static @Nullable String git(String... arguments) throws InterruptedException {
    List<String> command = new ArrayList<>(List.of("git"));
    command.addAll(List.of(arguments));
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.waitFor() == 0 ? answer.strip() : null;
    } catch (IOException e) {
      return null;
    }
  }
}
