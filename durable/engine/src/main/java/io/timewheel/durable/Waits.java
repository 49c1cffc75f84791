// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * What the engine does after a while: on the wheel; or beside it, with the first beat after its
 * time, if the wheel refuses, because it is full or there is no memory. Nothing is lost while the
 * wheel runs.
 */
final class Waits {
  private static final System.Logger LOG = GuardedLog.LOG;

  private final Timer wheel;
  private final Runnable onStopped;
  private final Queue<Refused> beside = new ConcurrentLinkedQueue<>();

  /** Work that the wheel refused. */
  private record Refused(Runnable work, long startNanos, long waitNanos) {}

  /**
   * @param onStopped is told when the wheel turns out to be stopped
   */
  Waits(Timer wheel, Runnable onStopped) {
    this.wheel = wheel;
    this.onStopped = onStopped;
  }

  /**
   * Does something after a while.
   *
   * @return what can be cancelled; null if the wheel refused it
   * @throws IllegalStateException if the wheel was stopped: then nothing will be done
   */
  @Nullable Timeout start(Runnable work, Duration wait) {
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

  /** {@return the time of the wheel} */
  long nanoTime() {
    return wheel.timeSource().nanoTime();
  }

  /** Does what is due beside the wheel. */
  void beat() {
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
