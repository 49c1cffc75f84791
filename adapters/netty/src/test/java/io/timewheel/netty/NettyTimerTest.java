// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.Timer;
import org.junit.jupiter.api.Test;
import org.openjdk.jol.info.ClassLayout;

class NettyTimerTest extends NettyTimerContract {
  @Override
  Timer on(io.timewheel.Timer timer) {
    return new NettyTimer(timer);
  }

  @Override
  long pendingTimeouts(Timer timer) {
    return ((NettyTimer) timer).pendingTimeouts();
  }

  @Test
  void timeoutAdds24BytesToTheOneBehindIt() {
    assertThat(ClassLayout.parseClass(NettyTimeout.class).instanceSize()).isLessThanOrEqualTo(24);
  }
}
