// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A short run of the filling: memory does not grow with the number of stored timers. */
class FillTest {
  @TempDir Path directory;

  @Test
  void keepsTheFarFutureOutOfMemory() throws Exception {
    List<Fill.Milestone> milestones = new Fill(50_000, directory, line -> {}).run();
    assertThat(milestones).hasSize(1);
    Fill.Milestone last = milestones.get(0);
    assertThat(last.timers()).isEqualTo(50_000);
    assertThat(last.filling().window()).isZero();
    assertThat(last.reopened().memory().window()).isZero();
    assertThat(last.reopened().memory().heapBytes()).isLessThan(32 << 20);
    assertThat(last.diskBytes() / last.timers()).isLessThan(1_000);
  }
}
