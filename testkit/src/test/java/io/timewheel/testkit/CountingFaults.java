// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.TimeSource;
import io.timewheel.TimerStats;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/** Timers with faults in their counts. */
final class CountingFaults {
  private CountingFaults() {}

  @FoundBy({"aTimeoutIsNoLongerCountedWhenItsTaskRuns"})
  static NaiveTimer countsATimeoutUntilItsTaskHasRun(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      private final AtomicLong busy = new AtomicLong();

      @Override
      protected void run(NaiveTimeout timeout) {
        busy.incrementAndGet();
        super.run(timeout);
        busy.decrementAndGet();
      }

      @Override
      public synchronized long pendingTimeouts() {
        return super.pendingTimeouts() + busy.get();
      }
    };
  }

  @FoundBy({"acceptsOneMoreAfterAnExpiryEvenInsideTheTask"})
  static NaiveTimer releasesNoPermitBeforeTheTaskHasRun(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void refuseIfFull(long pending, long limit) {
        super.refuseIfFull(isRunningTasks() ? pending + 1 : pending, limit);
      }
    };
  }

  @FoundBy({"statsCountStartsMovesAndOutcomes", "maxLagIsTheLongestTimeFromADeadlineToItsTask"})
  static NaiveTimer hasStatsOfNothing(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      public synchronized TimerStats stats() {
        long pending = pendingTimeouts();
        return new TimerStats(pending, pending, 0, 0, 0, 0, 0, 0, 0);
      }
    };
  }

  @FoundBy({"aNewTimerHasDoneNothing"})
  static NaiveTimer hasDoneSomethingBeforeItIsUsed(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      public synchronized TimerStats stats() {
        started = Math.max(started, 1);
        cancelled = Math.max(cancelled, 1);
        return super.stats();
      }
    };
  }

  @FoundBy({
    "oneMoreThanTheLimitIsRefusedWithBothNumbers",
    "acceptsOneMoreAfterACancel",
    "overdueTimeoutsCountAgainstTheLimitUntilTheirTick",
    "theLimitIsNeverExceededAndAlwaysGivenBack"
  })
  static NaiveTimer hasNoLimit(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void refuseIfFull(long pending, long limit) {}
    };
  }

  @FoundBy({"isUnlimitedWithoutALimit", "runsAHundredThousandTimeoutsOfOneTick"})
  static NaiveTimer alwaysHasALimit(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void refuseIfFull(long pending, long limit) {
        super.refuseIfFull(pending, limit == 0 ? 20_000 : limit);
      }
    };
  }

  @FoundBy({"oneMoreThanTheLimitIsRefusedWithBothNumbers"})
  static NaiveTimer allowsOneMoreThanTheLimit(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void refuseIfFull(long pending, long limit) {
        super.refuseIfFull(pending - 1, limit);
      }
    };
  }

  @FoundBy({"acceptsOneMoreAfterACancel", "theLimitIsNeverExceededAndAlwaysGivenBack"})
  static NaiveTimer releasesNoPermitAfterACancel(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void refuseIfFull(long pending, long limit) {
        super.refuseIfFull(pending + cancelled, limit);
      }
    };
  }

  @FoundBy({"oneMoreThanTheLimitIsRefusedWithBothNumbers"})
  static NaiveTimer refusesWithoutNumbers(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void refuseIfFull(long pending, long limit) {
        if (limit > 0 && pending >= limit) {
          throw new RejectedExecutionException("too many");
        }
      }
    };
  }

  @FoundBy({"reportsStoppedRatherThanLimit"})
  static NaiveTimer isFullBeforeItIsStopped(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void refuseIfStopped() {
        if (stopped) {
          refuseIfFull(started, settings.maxPendingTimeouts());
        }
        super.refuseIfStopped();
      }
    };
  }
}
