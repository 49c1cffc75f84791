// SPDX-License-Identifier: Apache-2.0
package io.timewheel.dubbo;

import io.timewheel.dropin.DropIn;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.dubbo.common.timer.Timeout;
import org.apache.dubbo.common.timer.Timer;
import org.apache.dubbo.common.timer.TimerTask;

/** Adapts the contracts to Dubbo's interfaces. */
interface OnDubbo extends DropIn<Timer, Timeout, TimerTask> {
  /** A user's task. */
  record Task(Body<Timeout> body) implements TimerTask {
    @Override
    public void run(Timeout timeout) throws Exception {
      body.run(timeout);
    }
  }

  @Override
  default Timer on(io.timewheel.Timer timer) {
    return new DubboTimer(timer);
  }

  @Override
  default long pendingTimeouts(Timer timer) {
    return ((DubboTimer) timer).pendingTimeouts();
  }

  @Override
  default TimerTask task(Body<Timeout> body) {
    return new Task(body);
  }

  @Override
  default Timeout newTimeout(Timer timer, TimerTask task, long delay, TimeUnit unit) {
    return timer.newTimeout(task, delay, unit);
  }

  @Override
  default Set<Timeout> stop(Timer timer) {
    return timer.stop();
  }

  @Override
  default Timer timerOf(Timeout timeout) {
    return timeout.timer();
  }

  @Override
  default TimerTask taskOf(Timeout timeout) {
    return timeout.task();
  }

  @Override
  default boolean isExpired(Timeout timeout) {
    return timeout.isExpired();
  }

  @Override
  default boolean isCancelled(Timeout timeout) {
    return timeout.isCancelled();
  }

  @Override
  default boolean cancel(Timeout timeout) {
    return timeout.cancel();
  }
}
