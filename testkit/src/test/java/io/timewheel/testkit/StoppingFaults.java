// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.TimeSource;
import io.timewheel.Timeout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Timers with faults in stopping. */
final class StoppingFaults {
  private StoppingFaults() {}

  @FoundBy({
    "stopCancelsAndReturnsPendingTimeoutsOnly",
    "aSecondStopFindsNothing",
    "shutdownTimeoutMayBeZero",
    "isUnlimitedWithoutALimit"
  })
  static NaiveTimer losesPendingTimeoutsAtStop(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected synchronized List<NaiveTimeout> shutDown() {
        stopped = true;
        heap.clear();
        return null;
      }
    };
  }

  @FoundBy({"aSecondStopFindsNothing", "closeStops"})
  static NaiveTimer stopsAgainAndAgain(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      private List<NaiveTimeout> drained = List.of();

      @Override
      protected synchronized List<NaiveTimeout> shutDown() {
        List<NaiveTimeout> now = super.shutDown();
        drained = now == null ? drained : now;
        return drained;
      }
    };
  }

  @FoundBy({"stopCancelsAndReturnsPendingTimeoutsOnly", "stopReturnsNothingIfAllHasRun"})
  static NaiveTimer returnsExpiredTimeoutsToo(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      private final List<NaiveTimeout> ran = new ArrayList<>();

      @Override
      protected void run(NaiveTimeout timeout) {
        super.run(timeout);
        ran.add(timeout);
      }

      @Override
      public Set<Timeout> stop(Duration shutdownTimeout) {
        Set<Timeout> answer = super.stop(shutdownTimeout);
        return ran.isEmpty() ? answer : Set.copyOf(ran);
      }
    };
  }

  @FoundBy({
    "aTimerThatWasNeverUsedCanBeStopped",
    "afterStopNothingStartsMovesOrRuns",
    "aTaskThatStopCancelsCannotStartTimeouts",
    "stopCancelsAndReturnsPendingTimeoutsOnly"
  })
  static NaiveTimer startsAfterStop(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void refuseIfStopped() {}
    };
  }

  @FoundBy({"stopAndCloseInsideATaskAreRefused"})
  static NaiveTimer canBeStoppedByItsTask(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void refuseInsideTask(boolean insideTask) {}
    };
  }

  @FoundBy({"aTaskOnAnExecutorCanStopItsTimer"})
  static NaiveTimer cannotBeStoppedFromAnExecutor(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void run(NaiveTimeout timeout) {
        onExecutor = true;
        super.run(timeout);
        onExecutor = false;
      }

      private boolean onExecutor;

      @Override
      protected void refuseInsideTask(boolean insideTask) {
        super.refuseInsideTask(onExecutor);
      }
    };
  }

  @FoundBy({"stopWaitsForTheRunningTask"})
  static NaiveTimer leavesTheRunningTaskAloneAtStop(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void awaitTask(Duration shutdownTimeout) {}
    };
  }

  @FoundBy({"stopWaitsNoLongerThanItsTimeout"})
  static NaiveTimer throwsWhenItsTimeoutEnds(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void awaitTask(Duration shutdownTimeout) {
        super.awaitTask(shutdownTimeout);
        refuseInsideTask(isBusy());
      }
    };
  }

  @FoundBy({"anInterruptEndsTheWaitOfStopAndStays"})
  static NaiveTimer swallowsTheInterrupt(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void awaitTask(Duration shutdownTimeout) {
        super.awaitTask(shutdownTimeout);
        Thread.interrupted();
      }
    };
  }

  @FoundBy({"shutdownTimeoutMayBeZero"})
  static NaiveTimer stopsOnlyWithTimeout(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      public Set<Timeout> stop(Duration shutdownTimeout) {
        if (shutdownTimeout.isNegative()) {
          throw new IllegalArgumentException("shutdownTimeout: " + shutdownTimeout);
        }
        return super.stop(shutdownTimeout);
      }
    };
  }
}
