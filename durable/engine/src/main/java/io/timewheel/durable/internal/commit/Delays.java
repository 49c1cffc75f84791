// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.durable.internal.health.GuardedLog;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Runs delayed work of the engine on the wheel. If the wheel refuses because it is full or memory
 * is short, the work runs at the first maintenance tick after its time. No work is lost while the
 * wheel runs.
 */
public final class Delays {
  private static final System.Logger LOG = GuardedLog.LOG;

  private final Timer wheel;
  private final Runnable onStopped;
  private final Queue<Refused> beside = new ConcurrentLinkedQueue<>();

  /** Work that the wheel refused. */
  private record Refused(Runnable work, long startNanos, long waitNanos) {}

  /**
   * @param onStopped called when the wheel is found to be stopped
   */
  public Delays(Timer wheel, Runnable onStopped) {
    this.wheel = wheel;
    this.onStopped = onStopped;
  }

  /**
   * Runs work after a wait.
   *
   * @return a timeout to cancel the work; null if the wheel refused it
   * @throws IllegalStateException if the wheel was stopped; the work will not run
   */
  @Nullable
  public Timeout start(Runnable work, Duration wait) {
    try {
      return wheel.newTimeout(timeout -> work.run(), wait);
    } catch (IllegalStateException e) {
      onStopped.run();
      throw e;
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.WARNING, "the wheel refuses; the work waits for a tick", e);
      beside.add(new Refused(work, wheel.timeSource().nanoTime(), wait.toNanos()));
      return null;
    }
  }

  /** {@return the wheel, for callers that manage their own entries} */
  public Timer wheel() {
    return wheel;
  }

  /** Reports that the wheel was stopped. */
  public void stopped() {
    onStopped.run();
  }

  /** {@return the time of the wheel} */
  public long nanoTime() {
    return wheel.timeSource().nanoTime();
  }

  /** Runs the due work that the wheel refused. */
  public void tick() {
    long nowNanos = wheel.timeSource().nanoTime();
    beside.removeIf(
        refused -> {
          boolean due = nowNanos - refused.startNanos >= refused.waitNanos;
          if (due) {
            run(refused.work);
          }
          return due;
        });
  }

  private static void run(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.ERROR, "work of the engine threw", e);
    }
  }
}
