// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import jdk.jfr.FlightRecorder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/** Verifies events that cannot be loaded yet because no thread can be started. */
class EventsTest {
  @TempDir private Path directory;

  /** In a separate JVM, because other tests have loaded the events in this one. */
  @Test
  @EnabledForJreRange(max = JRE.JAVA_20) // later versions do not use the class loader of the thread
  void triesAgainToLoadTheEventsIfNoThreadCouldBeStarted() throws Exception {
    File output = directory.resolve("output.txt").toFile();
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                TwoLooks.class.getName())
            .redirectErrorStream(true)
            .redirectOutput(output)
            .start();
    try {
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(Files.readString(output.toPath())).endsWith("tries: 2");
  }

  /** Tries two events, on a thread that can start no other one. */
  static final class TwoLooks extends Thread {
    private int tries;

    public static void main(String[] args) throws InterruptedException {
      FlightRecorder.getFlightRecorder();
      TwoLooks looks = new TwoLooks();
      looks.start();
      looks.join();
      System.out.print("tries: " + looks.tries);
    }

    @Override
    public void run() {
      for (int i = 0; i < 2; i++) {
        Object unused = Events.attemptBegins();
      }
    }

    @Override
    public ClassLoader getContextClassLoader() {
      tries++;
      throw new OutOfMemoryError("on purpose");
    }
  }
}
