// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.TimeSource;

/** Timers with faults in moving deadlines. */
final class ReschedulingFaults {
  private ReschedulingFaults() {}

  @FoundBy({
    "reschedulingLaterFiresAtTheNewDeadlineOnly",
    "reschedulingEarlierFiresAtTheNewDeadlineOnly",
    "postponedRepeatedlyRunsOnceAtTheLastDeadline",
    "rescheduleKeepsTheCounts"
  })
  static NaiveTimer keepsTheOldDeadlineToo(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected synchronized boolean reschedule(NaiveTimeout timeout, long delayNanos) {
        NaiveTimeout old = new NaiveTimeout(this, timeout.task());
        old.tick = timeout.tick;
        boolean done = super.reschedule(timeout, delayNanos);
        if (done) {
          heap.add(old);
        }
        return done;
      }
    };
  }

  @FoundBy({
    "reschedulingEarlierFiresAtTheNewDeadlineOnly",
    "rescheduledByAnotherTask",
    "movedAtRandomEachRunsAtTheTickOfItsLastDeadline"
  })
  static NaiveTimer movesOnlyLater(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected synchronized boolean reschedule(NaiveTimeout timeout, long delayNanos) {
        return delayNanos > remainingNanos(timeout)
            ? super.reschedule(timeout, delayNanos)
            : heap.contains(timeout);
      }
    };
  }

  @FoundBy({"reschedulingLaterFiresAtTheNewDeadlineOnly", "reschedulingWithinATickKeepsTheTick"})
  static NaiveTimer addsTheDelayToTheOldDeadline(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected synchronized boolean reschedule(NaiveTimeout timeout, long delayNanos) {
        return super.reschedule(timeout, delayNanos + remainingNanos(timeout));
      }
    };
  }

  @FoundBy({
    "rescheduleIsFalseOnceExpired",
    "rescheduleIsFalseOnceCancelled",
    "aTimeoutMovedWhileItExpiresRunsOnce",
    "afterStopNothingStartsMovesOrRuns"
  })
  static NaiveTimer revivesByReschedule(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected synchronized boolean reschedule(NaiveTimeout timeout, long delayNanos) {
        if (!super.reschedule(timeout, delayNanos)) {
          schedule(timeout, delayNanos);
        }
        return true;
      }
    };
  }

  @FoundBy({"rescheduleKeepsTheCounts"})
  static NaiveTimer countsAMoveAsANewTimeout(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected synchronized boolean reschedule(NaiveTimeout timeout, long delayNanos) {
        boolean done = super.reschedule(timeout, delayNanos);
        if (done) {
          started++;
          cancelled++;
        }
        return done;
      }
    };
  }

  @FoundBy({
    "rescheduleInsideItsOwnTaskRearmsIt",
    "aRearmedTimeoutCanBeMovedAndCancelled",
    "stopReturnsRearmedTimeoutsAndPreventsRearming"
  })
  static NaiveTimer neverRearms(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected boolean rearm(NaiveTimeout timeout, long delayNanos) {
        return false;
      }
    };
  }

  @FoundBy({"rearmingIgnoresTheLimit"})
  static NaiveTimer appliesTheLimitToRearming(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected boolean rearm(NaiveTimeout timeout, long delayNanos) {
        refuseIfFull(heap.size(), settings.maxPendingTimeouts());
        return super.rearm(timeout, delayNanos);
      }
    };
  }

  @FoundBy({"onlyTheThreadThatRunsTheTaskCanRearmIt"})
  static NaiveTimer rearmsOnAnyThread(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected synchronized boolean reschedule(NaiveTimeout timeout, long delayNanos) {
        return timeout.runner != null
            ? rearm(timeout, delayNanos)
            : super.reschedule(timeout, delayNanos);
      }
    };
  }

  @FoundBy({"stopReturnsRearmedTimeoutsAndPreventsRearming"})
  static NaiveTimer rearmsAfterStop(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected boolean rearm(NaiveTimeout timeout, long delayNanos) {
        return super.rearm(timeout, delayNanos) || isStopped();
      }
    };
  }
}
