// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A Netty timeout: the user's handle and the timer's task in one object.
 *
 * <h2>Publication</h2>
 *
 * The timeout behind this one is known only once the timer has returned it, and by then this one
 * may already run, or a stop may have cancelled it. So whichever thread gets there first records
 * it: the one that starts the timeout, runs the task, or cancels; all write the same value. The
 * user gets this object from one of them, after a fence that works like that of a final field: no
 * thread sees the object without the field, even if the object is passed on through a race.
 */
final class NettyTimeout implements Timeout, io.timewheel.TimerTask {
  /** Netty 4.1 does not have {@link TimerTask#cancelled}. */
  private static final boolean TASKS_CAN_BE_CANCELLED = hasCancelled();

  private final Timer timer;
  private final TimerTask task;
  private io.timewheel.@Nullable Timeout timeout;

  NettyTimeout(Timer timer, TimerTask task) {
    this.timer = timer;
    this.task = task;
  }

  private static boolean hasCancelled() {
    try {
      TimerTask.class.getMethod("cancelled", Timeout.class);
      return true;
    } catch (NoSuchMethodException e) {
      return false;
    }
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

  @Override
  public void cancelled(io.timewheel.Timeout timeout) {
    started(timeout);
    if (TASKS_CAN_BE_CANCELLED) {
      task.cancelled(this);
    }
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
    StringBuilder text = new StringBuilder("NettyTimeout(");
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
