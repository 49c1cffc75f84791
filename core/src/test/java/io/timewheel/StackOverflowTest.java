// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Verifies that a stack overflow in a caller harms no other thread. Runs in a separate JVM, where
 * the code runs for the first time, mostly in the interpreter, whose frames are large.
 */
class StackOverflowTest {
  @ParameterizedTest
  @CsvSource({
    "hashed,-Xint",
    "hierarchical,-Xint",
    "hashed,-XX:TieredStopAtLevel=1",
    "hierarchical,-XX:TieredStopAtLevel=1"
  })
  void stackOverflowOfACallerDoesNotBreakTheTimer(String wheel, String mode) throws Exception {
    run(wheel, mode);
  }

  /**
   * With the second compiler, which takes most of the time, the overflow occurs at other points.
   */
  @ParameterizedTest
  @ValueSource(strings = {"hashed", "hierarchical"})
  @Tag("proof")
  void stackOverflowInCompiledCodeDoesNotBreakTheTimer(String wheel) throws Exception {
    run(wheel, "-Xmixed");
  }

  private static void run(String wheel, String mode) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                mode,
                "-XX:MaxJavaStackTraceDepth=10",
                "-cp",
                System.getProperty("java.class.path"),
                StackOverflows.class.getName(),
                wheel)
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(process.waitFor()).as(said).isZero();
    assertThat(said).contains("the timer is whole");
  }
}
