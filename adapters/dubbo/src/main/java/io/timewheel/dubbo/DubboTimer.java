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
 * Dubbo's view of a timer. It keeps no state and has no thread: ticks, executor, limit, listener
 * and error handler are those of the timer that it wraps, whose figures count what was started
 * here.
 *
 * <p>To the listener and the error handler of that timer, the task of a timeout that was started
 * here is the Dubbo {@link Timeout}, whose {@link Timeout#task()} is the user's. Ask the timeout
 * that they receive for its state. Warnings and Flight Recorder name the user's class.
 */
public final class DubboTimer implements Timer {
  private final io.timewheel.Timer timer;

  /**
   * Wraps a timer, which others may use as well, but which {@link #stop()} stops for all of them.
   *
   * @param timer the timer that does the work
   */
  public DubboTimer(io.timewheel.Timer timer) {
    this.timer = requireNonNull(timer, "timer");
  }

  /**
   * Starts a timeout.
   *
   * @param task what to run
   * @param delay how long from now; zero or less means the next tick
   * @param unit the unit of {@code delay}
   * @return the timeout, which is pending
   * @throws IllegalStateException if this timer is stopped
   * @throws RejectedExecutionException if as many timeouts are pending as the timer allows
   */
  @Override
  public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
    DubboTimeout timeout = new DubboTimeout(this, requireNonNull(task, "task"));
    timeout.started(timer.newTimeout(timeout, delay, unit));
    return timeout;
  }

  /**
   * Stops the timer, as {@link io.timewheel.Timer#stop()} does: what is pending is cancelled.
   *
   * @return the Dubbo timeouts that this call cancelled; timeouts that were started on the timer
   *     itself are cancelled too, but are not Dubbo's
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
   * How many timeouts are pending on the timer, wherever they were started: exact when no other
   * thread is at work.
   *
   * @return how many
   */
  public long pendingTimeouts() {
    return timer.pendingTimeouts();
  }

  @Override
  public String toString() {
    return "DubboTimer(" + timer + ")";
  }
}
