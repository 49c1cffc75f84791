// SPDX-License-Identifier: Apache-2.0
package io.timewheel.verification;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Keeps {@code guards.txt} in step with the tests and the core, without running anything. */
class GuardTest {
  private static final Path CORE = Path.of("../core/src/main/java/io/timewheel");

  /** Reading the list refuses a stress test that it does not name. */
  @Test
  void everyGuardNamesItsTests() throws IOException {
    assertThat(Guard.all()).isNotEmpty().allSatisfy(guard -> assertThat(guard.tests).isNotEmpty());
  }

  @Test
  void everyGuardIsInTheSources() throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(CORE)) {
      files = all.filter(path -> path.toString().endsWith(".java")).toList();
    }
    for (Guard guard : Guard.all()) {
      for (Path file : files) {
        guard.takeOutOf(file.getFileName().toString(), Files.readString(file));
      }
      guard.requireTakenOut();
    }
  }
}
