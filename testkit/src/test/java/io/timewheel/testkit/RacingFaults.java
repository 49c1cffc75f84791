// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.TimeSource;
import java.util.List;

/** Timers with faults under races. */
@SuppressWarnings("UnsynchronizedOverridesSynchronized") // the missing lock is the fault
final class RacingFaults {
  private RacingFaults() {}

  @FoundBy({"aTimeoutStartedWhileTheTimerStopsRunsOrIsRefusedOrReturned"})
  static NaiveTimer losesTimeoutsStartedDuringStop(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected List<NaiveTimeout> shutDown() {
        if (isStopped()) {
          return null;
        }
        List<NaiveTimeout> drained = drain();
        pause();
        super.shutDown();
        return drained;
      }
    };
  }

  @FoundBy({"aTimeoutCancelledWhileItExpiresHasOneOutcome"})
  static NaiveTimer cancelsTimeoutsThatItHasJustTaken(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected boolean cancel(NaiveTimeout timeout) {
        if (timeout.expired || timeout.cancelled) {
          return false;
        }
        pause();
        timeout.cancelled = true;
        synchronized (this) {
          heap.remove(timeout);
        }
        notifyCancelled(timeout);
        return true;
      }
    };
  }

  @FoundBy({"theLimitIsExactForAnyNumberOfThreads"})
  static NaiveTimer countsTheLimitWithoutALock(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void add(NaiveTimeout timeout, long delayNanos) {
        super.refuseIfFull(pendingTimeouts(), settings.maxPendingTimeouts());
        pause();
        super.add(timeout, delayNanos);
      }

      @Override
      protected void refuseIfFull(long pending, long limit) {}
    };
  }

  @FoundBy({"aTimeoutMovedWhileItExpiresRunsOnce"})
  static NaiveTimer movesWithoutALock(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected boolean reschedule(NaiveTimeout timeout, long delayNanos) {
        if (timeout.expired || timeout.cancelled) {
          return false;
        }
        synchronized (this) {
          heap.remove(timeout);
        }
        pause();
        synchronized (this) {
          rescheduled++;
          schedule(timeout, delayNanos);
        }
        return true;
      }
    };
  }

  /** Lets other threads run in between. */
  @SuppressWarnings("ThreadPriorityCheck")
  private static void pause() {
    for (int i = 0; i < 5; i++) {
      Thread.yield();
    }
  }
}
