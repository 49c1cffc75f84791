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
 * Netty's view of a timer. It keeps no state and has no thread: ticks, executor, limit, listener
 * and error handler are those of the timer that it is made of, whose figures count what was started
 * here.
 *
 * <p>To the listener and the error handler of that timer, the task of a timeout that was started
 * here is the Netty {@link Timeout}, whose {@link Timeout#task()} is the user's. Its state is to be
 * asked of the timeout that they are given. Warnings and Flight Recorder name the user's class.
 */
public final class NettyTimer implements Timer {
  private final io.timewheel.Timer timer;
  private final Timer face;

  /**
   * Makes a Netty timer of a timer, which others may use as well, but which {@link #stop()} stops
   * for all of them.
   *
   * @param timer the timer that does the work
   */
  public NettyTimer(io.timewheel.Timer timer) {
    this.timer = requireNonNull(timer, "timer");
    this.face = this;
  }

  /** Makes a timer whose timeouts return {@code face} as their {@link Timeout#timer()}. */
  NettyTimer(io.timewheel.Timer timer, Timer face) {
    this.timer = requireNonNull(timer, "timer");
    this.face = face;
  }

  /**
   * Starts a timeout.
   *
   * @param task what to run
   * @param delay how long from now; zero or less is the next tick
   * @param unit the unit of {@code delay}
   * @return the timeout, which is pending
   * @throws IllegalStateException if this timer is stopped
   * @throws RejectedExecutionException if as many timeouts are pending as the timer allows
   */
  @Override
  public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
    NettyTimeout timeout = new NettyTimeout(face, requireNonNull(task, "task"));
    timeout.started(timer.newTimeout(timeout, delay, unit));
    return timeout;
  }

  /**
   * Stops the timer, as {@link io.timewheel.Timer#stop()} does: what is pending is cancelled,
   * {@link TimerTask#cancelled} included.
   *
   * @return the Netty timeouts that this call cancelled; timeouts that were started on the timer
   *     itself are cancelled too, but are none of Netty's
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
   * How many timeouts are pending on the timer, whoever started them: exact when no other thread is
   * at work.
   *
   * @return how many
   */
  public long pendingTimeouts() {
    return timer.pendingTimeouts();
  }

  @Override
  public String toString() {
    return "NettyTimer(" + timer + ")";
  }
}
