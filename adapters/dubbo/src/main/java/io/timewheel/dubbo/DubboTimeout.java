// SPDX-License-Identifier: Apache-2.0
package io.timewheel.dubbo;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.lang.invoke.VarHandle;
import org.apache.dubbo.common.timer.Timeout;
import org.apache.dubbo.common.timer.Timer;
import org.apache.dubbo.common.timer.TimerTask;
import org.jspecify.annotations.Nullable;

/**
 * A Dubbo timeout. One object is both the handle that the user holds and the task that the timer
 * runs.
 *
 * <h2>Publication</h2>
 *
 * The timer returns its own timeout only after it has started it. By then, this task may already
 * run, or a stop may have cancelled it. So three threads may record the timer's timeout: the thread
 * that starts it, the thread that runs the task, and the thread that cancels it. All of them write
 * the same value. The user receives this object from one of these threads, after a fence. The fence
 * works like that of a final field: no thread sees the object without the field, even through a
 * data race.
 */
final class DubboTimeout implements Timeout, io.timewheel.TimerTask {
  private final Timer timer;
  private final TimerTask task;
  private io.timewheel.@Nullable Timeout timeout;

  DubboTimeout(Timer timer, TimerTask task) {
    this.timer = timer;
    this.task = task;
  }

  /** Records the timer's timeout, before the current thread passes this object to user code. */
  void started(io.timewheel.Timeout timeout) {
    this.timeout = timeout;
    VarHandle.storeStoreFence();
  }

  private io.timewheel.Timeout timeout() {
    io.timewheel.Timeout started = timeout;
    if (started == null) {
      throw new IllegalStateException(
          "not available yet to a listener of the timer: use the timeout that the listener"
              + " received");
    }
    return started;
  }

  @Override
  public void run(io.timewheel.Timeout timeout) throws Exception {
    started(timeout);
    task.run(this);
  }

  /**
   * Records the timer's timeout. Does not notify the task: Dubbo's tasks have no callback for
   * cancellations.
   */
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

  /**
   * Does not use the text of the timer's timeout, because that contains this object as its task.
   */
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
