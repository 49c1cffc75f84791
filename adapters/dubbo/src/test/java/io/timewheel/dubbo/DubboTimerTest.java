// SPDX-License-Identifier: Apache-2.0
package io.timewheel.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.dropin.DropInTimerContract;
import org.apache.dubbo.common.timer.Timeout;
import org.apache.dubbo.common.timer.Timer;
import org.apache.dubbo.common.timer.TimerTask;
import org.junit.jupiter.api.Test;

class DubboTimerTest extends DropInTimerContract<Timer, Timeout, TimerTask> implements OnDubbo {
  @Test
  void isStopReturnsWhetherTheTimerIsStopped() {
    assertThat(timer.isStop()).isFalse();
    timer.stop();

    assertThat(timer.isStop()).isTrue();
  }
}
