// SPDX-License-Identifier: Apache-2.0
package io.timewheel.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.HierarchicalWheelTimer;
import org.apache.dubbo.common.timer.Timer;
import org.junit.jupiter.api.Test;

/** The code in docs/migrate/memory.md; a test of the examples compares the two. */
class MigratingTest {
  @Test
  void dubbosInterface() {
    Timer timer = new DubboTimer(HierarchicalWheelTimer.create());
    assertThat(timer.stop()).isEmpty();
  }
}
