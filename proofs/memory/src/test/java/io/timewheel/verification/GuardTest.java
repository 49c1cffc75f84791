// SPDX-License-Identifier: Apache-2.0
package io.timewheel.verification;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Checks that {@code guards.txt} matches the tests and the core, without running anything. Runs
 * only with {@code -Pproofs,guard-removal}: the list contains pieces of the sources of core, and
 * must not break the build of a change to core.
 */
@Tag("guards")
class GuardTest {
  private static final Path CORE = Path.of("../../core/src/main/java/io/timewheel");

  /** Reading the list fails if a stress test is missing in it. */
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
    List<String> faults = new ArrayList<>();
    for (Guard guard : Guard.all()) {
      try {
        for (Path file : files) {
          guard.takeOutOf(file.getFileName().toString(), Files.readString(file));
        }
        guard.requireTakenOut();
      } catch (IllegalStateException e) {
        faults.add(guard.name + ": " + e.getMessage());
      }
    }
    assertThat(faults).isEmpty();
  }
}
