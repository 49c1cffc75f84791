// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static java.util.Objects.requireNonNull;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A {@link NettyTimer} for code that requires Netty's class {@link HashedWheelTimer} instead of its
 * interface {@link Timer}, such as Apache BookKeeper. It inherits from Netty's class only for its
 * type: the inherited wheel is never used, and the inherited thread is never started.
 *
 * <p>The constructor stops the inherited timer. So Netty does not track this object as a leak.
 * Netty logs a warning if there are more than 64 live timers, and counts this one only for a
 * moment. About 10 kB of unused queues remain.
 */
public final class NettyHashedWheelTimer extends HashedWheelTimer {
  private final io.timewheel.Timer timer;
  private final NettyTimer netty;

  /**
   * Wraps a timer. Other code may use the timer too; {@link #stop()} stops it for all users.
   *
   * @param timer the timer that does the work
   */
  public NettyHashedWheelTimer(io.timewheel.Timer timer) {
    // The smallest settings that Netty accepts. The thread must be a daemon: otherwise, Netty would
    // track this timer as a leak.
    super(NettyHashedWheelTimer::daemon, 1, TimeUnit.MILLISECONDS, 1, false);
    super.stop();
    this.timer = requireNonNull(timer, "timer");
    this.netty = new NettyTimer(timer, this);
  }

  private static Thread daemon(Runnable worker) {
    Thread thread = new Thread(worker, "never started");
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Does nothing if the timer is not stopped: the first timeout starts its thread.
   *
   * @throws IllegalStateException if this timer is stopped
   */
  @Override
  public void start() {
    if (timer.isStopped()) {
      throw new IllegalStateException("cannot be started once stopped");
    }
  }

  @Override
  public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
    return netty.newTimeout(task, delay, unit);
  }

  /**
   * Stops the timer, as {@link NettyTimer#stop()} does.
   *
   * @return the Netty timeouts that this call cancelled
   */
  @Override
  public Set<Timeout> stop() {
    return netty.stop();
  }

  @Override
  public long pendingTimeouts() {
    return netty.pendingTimeouts();
  }

  @Override
  public String toString() {
    return "NettyHashedWheelTimer(" + timer + ")";
  }
}
