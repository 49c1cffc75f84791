// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.TimeSource;
import io.timewheel.Timeout;
import io.timewheel.TimerTask;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Timers with faults in the time of firing. */
final class FiringFaults {
  private FiringFaults() {}

  @FoundBy({
    "waitsForTheNextTickIfItsDeadlineIsBetweenTwo",
    "neverEarlyAndAtTheFirstTickAtOrAfterRandomDeadlines",
    "manyThreadsStartMoveAndCancelWhileTimePassesAndEachTimeoutHasOneOutcomeAndIsNotEarly"
  })
  static NaiveTimer firesEarly(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected long tickOf(long deadlineNanos) {
        return deadlineNanos == Long.MAX_VALUE ? deadlineNanos : deadlineNanos / tickNanos;
      }
    };
  }

  @FoundBy({
    "runsOnceAtItsDeadline",
    "ticksMayBeShort",
    "reschedulingWithinATickKeepsTheTick",
    "restartedTaskKeepsItsPeriodOverTurns",
    "delaysOfATaskCountFromItsTick",
    "maxLagIsTheLongestTimeFromADeadlineToItsTask"
  })
  static NaiveTimer firesATickLate(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected long tickOf(long deadlineNanos) {
        return deadlineNanos == Long.MAX_VALUE ? deadlineNanos : super.tickOf(deadlineNanos) + 1;
      }
    };
  }

  @FoundBy({"countsTheDelayFromTheCallAndNotFromTheTick"})
  static NaiveTimer countsFromTheTick(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected long deadlineNanos(long delayNanos) {
        long sinceTickNanos = elapsedNanos() % tickNanos;
        return Math.max(elapsedNanos() + 1, super.deadlineNanos(delayNanos) - sinceTickNanos);
      }
    };
  }

  @FoundBy({
    "zeroAndNegativeDelaysMeanTheNextTickAndNeverThisCall",
    "reschedulingWithoutDelayFiresAtTheNextTick"
  })
  static NaiveTimer runsInTheCallWithoutDelay(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void schedule(NaiveTimeout timeout, long delayNanos) {
        super.schedule(timeout, delayNanos);
        if (delayNanos <= 0) {
          timeout.tick = 0;
          runAllDue();
        }
      }
    };
  }

  @FoundBy({
    "zeroAndNegativeDelaysMeanTheNextTickAndNeverThisCall",
    "overdueTimeoutsCountAgainstTheLimitUntilTheirTick"
  })
  static NaiveTimer runsAtThePresentTickWithoutDelay(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void schedule(NaiveTimeout timeout, long delayNanos) {
        super.schedule(timeout, delayNanos);
        if (delayNanos <= 0) {
          timeout.tick = elapsedNanos() / tickNanos;
        }
      }
    };
  }

  @FoundBy({
    "zeroAndNegativeDelaysMeanTheNextTickAndNeverThisCall",
    "reschedulingWithoutDelayFiresAtTheNextTick"
  })
  static NaiveTimer takesTheSizeOfANegativeDelay(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected long deadlineNanos(long delayNanos) {
        return super.deadlineNanos(Math.abs(delayNanos));
      }
    };
  }

  @FoundBy({"delaysBeyond292YearsNeverFire", "rescheduledBeyond292YearsNeverRunsUntilMovedAgain"})
  static NaiveTimer overflows(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected long deadlineNanos(long delayNanos) {
        return elapsedNanos() + Math.max(1, delayNanos);
      }
    };
  }

  @FoundBy({"longDelaysAreExact", "delaysBeyond292YearsNeverFire"})
  static NaiveTimer countsMillisecondsInAnInt(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected long deadlineNanos(long delayNanos) {
        return super.deadlineNanos(
            Math.min(delayNanos, TimeUnit.MILLISECONDS.toNanos(Integer.MAX_VALUE)));
      }
    };
  }

  @FoundBy({"delaysAreInTheirUnit"})
  static NaiveTimer takesEveryUnitForMilliseconds(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
        return super.newTimeout(task, delay, TimeUnit.MILLISECONDS);
      }
    };
  }

  @FoundBy({"timeoutsTurnsApartFireAtTheirOwnTicks", "aJumpOfHoursRunsDueTimeoutsOnly"})
  static NaiveTimer firesTurnsTooEarly(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected long tickOf(long deadlineNanos) {
        long tick = super.tickOf(deadlineNanos);
        long nowTick = elapsedNanos() / tickNanos;
        return tick == Long.MAX_VALUE ? tick : nowTick + 1 + (tick - nowTick - 1) % 512;
      }
    };
  }

  @FoundBy({"timeoutsOfOneThreadRunInTheOrderOfTheirTicks"})
  static NaiveTimer runsTheLastFirst(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected NaiveTimeout firstDue(long nowTick) {
        return heap.stream()
            .filter(timeout -> timeout.tick <= nowTick)
            .max(heap.comparator())
            .orElse(null);
      }
    };
  }

  @FoundBy({"runsAHundredThousandTimeoutsOfOneTick", "aJumpOfHoursRunsDueTimeoutsOnly"})
  static NaiveTimer runsAHundredAtATime(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void runAllDue() {
        for (int i = 0; i < 100; i++) {
          NaiveTimeout due = poll();
          if (due == null) {
            return;
          }
          execute(due);
        }
      }
    };
  }

  @FoundBy({
    "taskRestartedWithoutDelayRunsOncePerTick",
    "delaysOfATaskCountFromItsTick",
    "rescheduledByAnotherTask"
  })
  static NaiveTimer runsTimeoutsThatTasksStartAtOnce(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void schedule(NaiveTimeout timeout, long delayNanos) {
        super.schedule(timeout, delayNanos);
        if (isRunningTasks()) {
          timeout.tick = Math.min(timeout.tick, elapsedNanos() / tickNanos);
        }
      }

      @Override
      protected void runAllDue() {
        // Bounded, because a task that adds itself again would never let this end.
        for (int i = 0; i < 1_000; i++) {
          NaiveTimeout due = poll();
          if (due == null) {
            return;
          }
          execute(due);
        }
      }
    };
  }

  @FoundBy({"aShortDelayAfterAnIdleHourIsExact"})
  static NaiveTimer countsAnIdleTimeInCoarseTicks(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      private long lastNanos;

      @Override
      protected long tickOf(long deadlineNanos) {
        boolean idle = elapsedNanos() - lastNanos > Duration.ofMinutes(30).toNanos();
        lastNanos = elapsedNanos();
        long tick = super.tickOf(deadlineNanos);
        return idle ? tick | 63 : tick;
      }
    };
  }

  @FoundBy({"runsOnceAtItsDeadline", "neverEarlyAndAtTheFirstTickAtOrAfterRandomDeadlines"})
  static NaiveTimer runsTwice(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void run(NaiveTimeout timeout) {
        super.run(timeout);
        super.run(timeout);
      }
    };
  }
}
