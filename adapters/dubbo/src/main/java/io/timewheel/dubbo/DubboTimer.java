// SPDX-License-Identifier: Apache-2.0
package io.timewheel.dubbo;

import static java.util.Objects.requireNonNull;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.dubbo.common.timer.Timeout;
import org.apache.dubbo.common.timer.Timer;
import org.apache.dubbo.common.timer.TimerTask;

/**
 * Adapts a timer to Dubbo's interface. The adapter has no state and no thread. The wrapped timer
 * determines the tick, executor, limit, listener and error handler, and its statistics include the
 * timeouts started here.
 *
 * <p>The listener and the error handler of that timer receive its own timeout. The task of that
 * timeout is the Dubbo {@link Timeout}, whose {@link Timeout#task()} is the user's task. Read the
 * state from the timeout that they receive. Warnings and Flight Recorder show the class of the
 * user's task.
 */
public final class DubboTimer implements Timer {
  private final io.timewheel.Timer timer;

  /**
   * Wraps a timer. Other code may use the timer too; {@link #stop()} stops it for all users.
   *
   * @param timer the timer that does the work
   */
  public DubboTimer(io.timewheel.Timer timer) {
    this.timer = requireNonNull(timer, "timer");
  }

  /**
   * Starts a timeout.
   *
   * @param task the task to run
   * @param delay the time from now; zero or less means the next tick
   * @param unit the unit of {@code delay}
   * @return the timeout, which is pending
   * @throws IllegalStateException if this timer is stopped
   * @throws RejectedExecutionException if the timer's limit on pending timeouts is reached
   */
  @Override
  public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
    DubboTimeout timeout = new DubboTimeout(this, requireNonNull(task, "task"));
    timeout.started(timer.newTimeout(timeout, delay, unit));
    return timeout;
  }

  /**
   * Stops the timer, as {@link io.timewheel.Timer#stop()} does: pending timeouts are cancelled.
   *
   * @return the Dubbo timeouts that this call cancelled. Timeouts that were started on the wrapped
   *     timer itself are cancelled too, but not returned
   * @throws IllegalStateException if called by a task on the timer thread
   */
  @Override
  public Set<Timeout> stop() {
    Set<Timeout> answer = new HashSet<>();
    for (io.timewheel.Timeout timeout : timer.stop()) {
      if (timeout.task() instanceof DubboTimeout dubbo) {
        answer.add(dubbo);
      }
    }
    return Collections.unmodifiableSet(answer);
  }

  @Override
  public boolean isStop() {
    return timer.isStopped();
  }

  /**
   * Returns how many timeouts are pending on the wrapped timer, including those not started through
   * Dubbo's interface. The number is exact if no other thread uses the timer.
   *
   * @return the number of pending timeouts
   */
  public long pendingTimeouts() {
    return timer.pendingTimeouts();
  }

  @Override
  public String toString() {
    return "DubboTimer(" + timer + ")";
  }
}
