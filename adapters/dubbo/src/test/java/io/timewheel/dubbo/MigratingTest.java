// SPDX-License-Identifier: Apache-2.0
package io.timewheel.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.HierarchicalWheelTimer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.dubbo.common.timer.Timer;
import org.junit.jupiter.api.Test;

/** The snippet of docs/MIGRATING.md is what is compiled here. */
class MigratingTest {
  @Test
  void dubbosInterface() throws IOException {
    Timer timer = new DubboTimer(HierarchicalWheelTimer.create());
    assertThat(timer.stop()).isEmpty();

    assertThat(Files.readString(Path.of("../../docs/MIGRATING.md")))
        .contains("Timer timer = new DubboTimer(HierarchicalWheelTimer.create());\n");
  }
}
