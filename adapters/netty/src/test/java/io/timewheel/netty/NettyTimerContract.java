// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.timewheel.dropin.DropInTimerContract;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The behaviour that Netty's users rely on. */
abstract class NettyTimerContract extends DropInTimerContract<Timer, Timeout, TimerTask>
    implements OnNetty {
  private final ManualTimer clock = ManualTimer.create();
  private final CancelledTask task = new CancelledTask();

  @Test
  void tickAfterACancelNotifiesTheTaskIfNettyCan() {
    Timer timer = on(clock);
    Timeout timeout = timer.newTimeout(task, 1, SECONDS);
    timer.newTimeout(task, 1, SECONDS);

    timeout.cancel();
    assertThat(task.cancelled).isEmpty();
    clock.advanceBy(Duration.ofMillis(1));

    assertThat(task.cancelled).isEqualTo(ifNettyNotifies(timeout));
    clock.advanceBy(Duration.ofSeconds(1));
    assertThat(task.cancelled).isEqualTo(ifNettyNotifies(timeout));
  }

  @Test
  void stopNotifiesTasksOnlyOfEarlierCancels() {
    Timer timer = on(clock);
    Timeout timeout = timer.newTimeout(task, 1, SECONDS);
    Timeout left = timer.newTimeout(task, 1, SECONDS);

    timeout.cancel();

    assertThat(timer.stop()).containsExactly(left);
    assertThat(task.cancelled).isEqualTo(ifNettyNotifies(timeout));
  }

  @Test
  void cancelOfATaskThatIsNotNotifiedStartsNothing() {
    on(clock).newTimeout(timeout -> {}, 1, SECONDS).cancel();

    assertThat(clock.stats().started()).isEqualTo(1);
  }

  /** Another thread may have taken the place of the cancelled timeout. */
  @Test
  void cancelAtTheLimitNotifiesTheTaskAtOnce() {
    ManualTimer full = ManualTimer.create(settings -> settings.maxPendingTimeouts(1));
    NettyTimeout timeout = new NettyTimeout(on(full), task);

    timeout.cancelled(full.newTimeout(pending -> {}, 1, SECONDS));

    assertThat(task.cancelled).isEqualTo(ifNettyNotifies(timeout));
  }

  private static List<Timeout> ifNettyNotifies(Timeout timeout) {
    return NettyVersion.is42() ? List.of(timeout) : List.of();
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
