// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.load;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** Measures the time of a client command, from the launcher to its exit. */
final class Starts {
  private static final int TIMES = 10;

  private Starts() {}

  /** {@return the version of a JDK} */
  static String version(Path home) throws IOException {
    Properties release = new Properties();
    try (InputStream file = Files.newInputStream(home.resolve("release"))) {
      release.load(file);
    }
    return release.getProperty("JAVA_VERSION").replace("\"", "");
  }

  /** {@return the duration of each start except the first one, which creates the class archive} */
  static List<Double> millis(Path home, int port) throws IOException, InterruptedException {
    run(home, port);
    List<Double> millis = new ArrayList<>();
    for (int i = 0; i < TIMES; i++) {
      millis.add(run(home, port));
    }
    return millis;
  }

  private static double run(Path home, int port) throws IOException, InterruptedException {
    ProcessBuilder command =
        new ProcessBuilder(
                "./timewheel", "timers", "list", "nobody", "--server", "http://127.0.0.1:" + port)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD);
    command.environment().put("JAVA_HOME", home.toString());
    long beganNanos = System.nanoTime();
    int exitCode = command.start().waitFor();
    if (exitCode != 0) {
      throw new IOException("./timewheel ended with " + exitCode);
    }
    return (System.nanoTime() - beganNanos) / 1e6;
  }
}
