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
 * What the engine does after a while: on the wheel; or beside it, with the first beat after its
 * time, if the wheel refuses, because it is full or there is no memory. Nothing is lost while the
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
   * @param onStopped is told when the wheel turns out to be stopped
   */
  public Delays(Timer wheel, Runnable onStopped) {
    this.wheel = wheel;
    this.onStopped = onStopped;
  }

  /**
   * Does something after a while.
   *
   * @return what can be cancelled; null if the wheel refused it
   * @throws IllegalStateException if the wheel was stopped: then nothing will be done
   */
  @Nullable
  public Timeout start(Runnable work, Duration wait) {
    try {
      return wheel.newTimeout(timeout -> work.run(), wait);
    } catch (IllegalStateException e) {
      onStopped.run();
      throw e;
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.WARNING, "the wheel refuses; work waits for a beat", e);
      beside.add(new Refused(work, wheel.timeSource().nanoTime(), wait.toNanos()));
      return null;
    }
  }

  /** {@return the wheel, for entries of their own} */
  public Timer wheel() {
    return wheel;
  }

  /** The wheel was stopped. */
  public void stopped() {
    onStopped.run();
  }

  /** {@return the time of the wheel} */
  public long nanoTime() {
    return wheel.timeSource().nanoTime();
  }

  /** Does what is due beside the wheel. */
  public void beat() {
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
