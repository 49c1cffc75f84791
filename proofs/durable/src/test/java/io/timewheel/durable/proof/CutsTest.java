// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.testing.Seed;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A short run of the cuts, and one with a fault that must be found. Only this class compares a
 * store whose log was cut with its earlier contents.
 */
@Tag("promise-38")
class CutsTest {
  @TempDir Path directory;

  @Test
  void leavesTheContentOfAnEarlierMoment() throws Exception {
    Cuts.Report report = new Cuts(16, 0, 8, Seed.get(), Log.NONE, directory).run();
    assertThat(report.violations).isEmpty();
    assertThat(report.cuts).isEqualTo(16);
    assertThat(report.effective).isPositive();
  }

  @Test
  void findsAHole() throws Exception {
    assertThat(new Cuts(2, 0, 2, Seed.get(), Cuts.HOLE, directory).run().violations)
        .anySatisfy(
            found ->
                assertThat(found).contains("is missing, and was committed before the request for"));
  }
}
