// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.openjdk.jol.info.ClassLayout;

class NettyTimerTest extends NettyTimerContract {
  @Test
  void timeoutAdds24BytesToTheOneBehindIt() {
    assertThat(ClassLayout.parseClass(NettyTimeout.class).instanceSize()).isLessThanOrEqualTo(24);
  }
}
