// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timer;
import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.testkit.ManualTimer;
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class NettyHashedWheelTimerTest extends NettyTimerContract {
  @Override
  public Timer on(io.timewheel.Timer timer) {
    return new NettyHashedWheelTimer(timer);
  }

  @Override
  public long pendingTimeouts(Timer timer) {
    return ((HashedWheelTimer) timer).pendingTimeouts();
  }

  @Test
  void nettyNeitherCountsNorTracksIt() throws ReflectiveOperationException {
    int before = ((AtomicInteger) field("INSTANCE_COUNTER", null)).get();
    HashedWheelTimer timer = new NettyHashedWheelTimer(ManualTimer.create());

    assertThat(((AtomicInteger) field("INSTANCE_COUNTER", null)).get()).isEqualTo(before);
    assertThat(field("leak", timer)).isNull();

    timer.stop();
    assertThat(((AtomicInteger) field("INSTANCE_COUNTER", null)).get()).isEqualTo(before);
  }

  @Test
  void nettysThreadIsNeverStarted() throws ReflectiveOperationException {
    try (HierarchicalWheelTimer behind = HierarchicalWheelTimer.create()) {
      HashedWheelTimer timer = new NettyHashedWheelTimer(behind);
      timer.start();
      timer.newTimeout(timeout -> {}, 1, SECONDS);

      assertThat(((Thread) field("workerThread", timer)).getState()).isEqualTo(Thread.State.NEW);
      assertThat(behind.pendingTimeouts()).isEqualTo(1);
    }
  }

  @Test
  void startRefusesAfterStop() {
    HashedWheelTimer timer = new NettyHashedWheelTimer(ManualTimer.create());
    timer.start();
    timer.stop();

    assertThatIllegalStateException()
        .isThrownBy(timer::start)
        .withMessage("cannot be started once stopped");
  }

  private static Object field(String name, HashedWheelTimer of)
      throws ReflectiveOperationException {
    Field field = HashedWheelTimer.class.getDeclaredField(name);
    field.setAccessible(true);
    return field.get(of);
  }
}
