// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static java.util.Objects.requireNonNull;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Adapts a timer to Netty's interface. The adapter has no state and no thread. The wrapped timer
 * determines the tick, executor, limit, listener and error handler, and its statistics include the
 * timeouts started here.
 *
 * <p>The timer thread, or the executor, calls {@link TimerTask#cancelled} at the tick after a
 * cancel. For that, a cancel starts a timeout if the class of the task overrides this method. If
 * the timer has reached its limit again, the cancelling thread calls it.
 *
 * <p>The listener and the error handler of that timer receive its own timeout. The task of that
 * timeout is the Netty {@link Timeout}, whose {@link Timeout#task()} is the user's task. Read the
 * state from the timeout that they receive. Warnings and Flight Recorder show the class of the
 * user's task.
 */
public final class NettyTimer implements Timer {
  private final io.timewheel.Timer timer;
  private final Timer face;

  /**
   * Wraps a timer. Other code may use the timer too; {@link #stop()} stops it for all users.
   *
   * @param timer the timer that does the work
   */
  public NettyTimer(io.timewheel.Timer timer) {
    this.timer = requireNonNull(timer, "timer");
    this.face = this;
  }

  /** Wraps a timer. Its timeouts return {@code face} as their {@link Timeout#timer()}. */
  NettyTimer(io.timewheel.Timer timer, Timer face) {
    this.timer = requireNonNull(timer, "timer");
    this.face = face;
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
    NettyTimeout timeout = new NettyTimeout(face, requireNonNull(task, "task"));
    timeout.started(timer.newTimeout(timeout, delay, unit));
    return timeout;
  }

  /**
   * Stops the timer, as {@link io.timewheel.Timer#stop()} does: pending timeouts are cancelled. As
   * with Netty's timer, {@link TimerTask#cancelled} is not called for them.
   *
   * @return the Netty timeouts that this call cancelled. Timeouts that were started on the wrapped
   *     timer itself are cancelled too, but not returned
   * @throws IllegalStateException if called by a task on the timer thread
   */
  @Override
  public Set<Timeout> stop() {
    Set<io.timewheel.Timeout> cancelled = timer.stop();
    Set<Timeout> answer = new HashSet<>();
    for (io.timewheel.Timeout timeout : cancelled) {
      if (timeout.task() instanceof NettyTimeout netty) {
        answer.add(netty);
      }
    }
    return Collections.unmodifiableSet(answer);
  }

  /**
   * Returns how many timeouts are pending on the wrapped timer, including those not started through
   * Netty's interface. The number is exact if no other thread uses the timer.
   *
   * @return the number of pending timeouts
   */
  public long pendingTimeouts() {
    return timer.pendingTimeouts();
  }

  @Override
  public String toString() {
    return "NettyTimer(" + timer + ")";
  }
}
