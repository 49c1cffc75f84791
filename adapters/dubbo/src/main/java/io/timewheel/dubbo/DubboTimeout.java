// SPDX-License-Identifier: Apache-2.0
package io.timewheel.dubbo;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.lang.invoke.VarHandle;
import org.apache.dubbo.common.timer.Timeout;
import org.apache.dubbo.common.timer.Timer;
import org.apache.dubbo.common.timer.TimerTask;
import org.jspecify.annotations.Nullable;

/**
 * A Dubbo timeout: the user's handle and the timer's task in one object.
 *
 * <h2>Publication</h2>
 *
 * The timeout behind this one is known only once the timer has returned it, and by then this one
 * may already run, or a stop may have cancelled it. So whichever thread gets there first records
 * it: the one that starts the timeout, runs the task, or cancels; all write the same value. The
 * user gets this object from one of them, after a fence that works like that of a final field: no
 * thread sees the object without the field, even if the object is passed on through a race.
 */
final class DubboTimeout implements Timeout, io.timewheel.TimerTask {
  private final Timer timer;
  private final TimerTask task;
  private io.timewheel.@Nullable Timeout timeout;

  DubboTimeout(Timer timer, TimerTask task) {
    this.timer = timer;
    this.task = task;
  }

  /** Records the timeout behind this one, before any other thread can see this one. */
  void started(io.timewheel.Timeout timeout) {
    this.timeout = timeout;
    VarHandle.storeStoreFence();
  }

  private io.timewheel.Timeout timeout() {
    io.timewheel.Timeout started = timeout;
    if (started == null) {
      throw new IllegalStateException(
          "not known yet to a listener of the timer: ask the timeout that the listener was given");
    }
    return started;
  }

  @Override
  public void run(io.timewheel.Timeout timeout) throws Exception {
    started(timeout);
    task.run(this);
  }

  /** Dubbo's tasks have no such callback. */
  @Override
  public void cancelled(io.timewheel.Timeout timeout) {
    started(timeout);
  }

  @Override
  public Class<?> taskClass() {
    return task.getClass();
  }

  @Override
  public Timer timer() {
    return timer;
  }

  @Override
  public TimerTask task() {
    return task;
  }

  @Override
  public boolean isExpired() {
    return timeout().isExpired();
  }

  @Override
  public boolean isCancelled() {
    return timeout().isCancelled();
  }

  @Override
  public boolean cancel() {
    return timeout().cancel();
  }

  /** Not the text of the timeout behind: that contains the text of this one, its task. */
  @Override
  public String toString() {
    io.timewheel.Timeout started = timeout;
    StringBuilder text = new StringBuilder("DubboTimeout(");
    if (started != null) {
      text.append("deadline: ").append(started.remaining(NANOSECONDS)).append(" ns from now, ");
      if (started.isCancelled()) {
        text.append("cancelled, ");
      } else if (started.isExpired()) {
        text.append("expired, ");
      }
    }
    return text.append("task: ").append(task).append(')').toString();
  }
}
