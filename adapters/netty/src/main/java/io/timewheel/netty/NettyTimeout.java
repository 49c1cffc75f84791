// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import java.lang.invoke.VarHandle;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A Netty timeout. One object is both the handle that the user holds and the task that the timer
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
final class NettyTimeout implements Timeout, io.timewheel.TimerTask {
  /**
   * True for classes of tasks that override {@link TimerTask#cancelled}, which Netty 4.1 does not
   * have.
   */
  private static final ClassValue<Boolean> NOTIFIED =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          try {
            TimerTask.class.getMethod("cancelled", Timeout.class);
            Class<?> owner = type.getMethod("cancelled", Timeout.class).getDeclaringClass();
            return owner != TimerTask.class;
          } catch (NoSuchMethodException e) {
            return false;
          } catch (LinkageError e) {
            return true; // a type in a signature of the task's class is missing
          }
        }
      };

  private final Timer timer;
  private final TimerTask task;
  private io.timewheel.@Nullable Timeout timeout;

  NettyTimeout(Timer timer, TimerTask task) {
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
   * Starts a {@link Notification}, because Netty notifies a task on the timer thread. A stopped
   * timer refuses it, so the timeouts that a stop cancels are not notified.
   */
  @Override
  public void cancelled(io.timewheel.Timeout timeout) {
    started(timeout);
    if (NOTIFIED.get(task.getClass())) {
      try {
        timeout.timer().newTimeout(new Notification(this), 0, NANOSECONDS);
      } catch (RejectedExecutionException e) {
        task.cancelled(this); // the timer is at its limit
      } catch (IllegalStateException e) {
        // the timer is stopped
      }
    }
  }

  /** Notifies the task of a cancelled timeout at the next tick, or when the timer stops. */
  private record Notification(NettyTimeout timeout) implements io.timewheel.TimerTask {
    @Override
    public void run(io.timewheel.Timeout due) {
      timeout.task.cancelled(timeout);
    }

    @Override
    public void cancelled(io.timewheel.Timeout stopped) {
      timeout.task.cancelled(timeout);
    }

    @Override
    public Class<?> taskClass() {
      return timeout.taskClass();
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

  /**
   * Does not use the text of the timer's timeout, because that contains this object as its task.
   */
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
