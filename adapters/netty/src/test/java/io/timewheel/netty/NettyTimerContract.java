// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.timewheel.dropin.DropInTimerContract;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The behaviour that Netty's users rely on. */
abstract class NettyTimerContract extends DropInTimerContract<Timer, Timeout, TimerTask>
    implements OnNetty {
  @Test
  void cancelledIsCalledIfNettyHasIt() {
    CancelledTask task = new CancelledTask();
    Timeout timeout = timer.newTimeout(task, 1, SECONDS);
    Timeout stopped = timer.newTimeout(task, 1, SECONDS);

    timeout.cancel();
    assertThat(task.cancelled).isEqualTo(NettyVersion.is42() ? List.of(timeout) : List.of());
    timer.stop();

    assertThat(task.cancelled)
        .isEqualTo(NettyVersion.is42() ? List.of(timeout, stopped) : List.of());
  }

  private static final class CancelledTask implements TimerTask {
    final List<Timeout> cancelled = new ArrayList<>();

    @Override
    public void run(Timeout timeout) {}

    @Override
    public void cancelled(Timeout timeout) {
      cancelled.add(timeout);
    }
  }
}
