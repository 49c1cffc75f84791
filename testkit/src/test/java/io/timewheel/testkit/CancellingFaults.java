// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.TimeSource;
import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Timers with faults in the state of timeouts and in cancelling. */
final class CancellingFaults {
  private CancellingFaults() {}

  @FoundBy({"aTimeoutReturnsItsTimerAndItsTask"})
  static NaiveTimer namesAnotherTimer(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected NaiveTimeout timeoutOf(TimerTask task) {
        return new NaiveTimeout(this, task) {
          @Override
          public Timer timer() {
            return new NaiveTimer(settings, clock);
          }
        };
      }
    };
  }

  @FoundBy({"aTimeoutReturnsItsTimerAndItsTask"})
  static NaiveTimer wrapsTheTask(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected NaiveTimeout timeoutOf(TimerTask task) {
        return super.timeoutOf(timeout -> task.run(timeout));
      }
    };
  }

  @FoundBy({"remainingCountsDownToTheDeadlineAndOn"})
  static NaiveTimer hasNothingRemainingOnceDue(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected long remainingNanos(NaiveTimeout timeout) {
        return Math.max(0, super.remainingNanos(timeout));
      }
    };
  }

  @FoundBy({"nullIsRefusedByNameAndLeavesNothingBehind"})
  static NaiveTimer takesNull(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
        return super.newTimeout(task == null ? timeout -> {} : task, delay, unit);
      }
    };
  }

  @FoundBy({
    "aCancelledTimeoutNeverRuns",
    "cancelledByATaskOfAnEarlierTick",
    "cancelByATaskOfTheSameTickIsDecidedOnce",
    "manyCancelsDelayNothing"
  })
  static NaiveTimer runsCancelledTimeouts(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected boolean cancel(NaiveTimeout timeout) {
        boolean done = super.cancel(timeout);
        if (done) {
          heap.add(timeout);
        }
        return done;
      }
    };
  }

  @FoundBy({
    "cancelIsTrueOnce",
    "aTimeoutCancelledWhileItExpiresHasOneOutcome",
    "afterStopNothingStartsMovesOrRuns"
  })
  static NaiveTimer cancelsAgainAndAgain(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected boolean cancel(NaiveTimeout timeout) {
        return super.cancel(timeout) || timeout.cancelled;
      }
    };
  }

  @FoundBy({
    "cancelIsFalseInsideTheTaskAndAfterIt",
    "withAnExecutorTasksRunThereAndNowhereElse",
    "aTaskThatThrowsDoesNotAffectOtherTimeouts"
  })
  static NaiveTimer cancelsExpiredTimeouts(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected boolean cancel(NaiveTimeout timeout) {
        return super.cancel(timeout) || timeout.expired;
      }
    };
  }

  @FoundBy({"cancelIsFalseInsideTheTaskAndAfterIt"})
  static NaiveTimer isNotExpiredInsideTheTask(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void markExpired(NaiveTimeout timeout) {}

      @Override
      protected void run(NaiveTimeout timeout) {
        super.run(timeout);
        super.markExpired(timeout);
      }
    };
  }

  @FoundBy({
    "aCancelledTimeoutIsNotCountedFromThatMoment",
    "cancelledIsCalledOnceByTheThreadThatCancelsAfterTheTimeoutHasLeft"
  })
  static NaiveTimer countsCancelledTimeoutsUntilDue(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      private final List<NaiveTimeout> gone = new ArrayList<>();

      @Override
      protected boolean cancel(NaiveTimeout timeout) {
        synchronized (this) {
          if (heap.contains(timeout)) {
            gone.add(timeout);
          }
        }
        return super.cancel(timeout);
      }

      @Override
      public synchronized long pendingTimeouts() {
        long nowTick = elapsedNanos() / tickNanos;
        return super.pendingTimeouts() + gone.stream().filter(t -> t.tick > nowTick).count();
      }
    };
  }

  @FoundBy({
    "aCancelledTimeoutIsNotCountedFromThatMoment",
    "cancelledIsNotCalledForExpiredTimeouts"
  })
  static NaiveTimer countsEveryCancel(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      private final AtomicLong excess = new AtomicLong();

      @Override
      protected boolean cancel(NaiveTimeout timeout) {
        boolean done = super.cancel(timeout);
        if (!done) {
          excess.incrementAndGet();
        }
        return done;
      }

      @Override
      public synchronized long pendingTimeouts() {
        return super.pendingTimeouts() - excess.get();
      }
    };
  }

  @FoundBy({"aCancelledTimeoutIsNotReferredToFromThatMoment"})
  static NaiveTimer retainsCancelledTimeouts(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      private final List<NaiveTimeout> gone = new ArrayList<>();

      @Override
      protected boolean cancel(NaiveTimeout timeout) {
        return super.cancel(timeout) && gone.add(timeout);
      }
    };
  }

  @FoundBy({
    "aCancelledTimeoutNeverRuns",
    "cancelledIsCalledOnceByTheThreadThatCancelsAfterTheTimeoutHasLeft",
    "stopCallsCancelledOnItsOwnThreadBeforeItReturns",
    "closeStops",
    "anExceptionOfCancelledDoesNotAffectOtherTimeouts",
    "aTaskThatStopCancelsCannotStartTimeouts"
  })
  static NaiveTimer reportsNoCancellation(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void notifyCancelled(NaiveTimeout timeout) {}
    };
  }

  @FoundBy({
    "cancelledIsCalledOnceByTheThreadThatCancelsAfterTheTimeoutHasLeft",
    "stopCallsCancelledOnItsOwnThreadBeforeItReturns"
  })
  static NaiveTimer reportsCancellationsOnItsOwnThread(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void notifyCancelled(NaiveTimeout timeout) {
        FutureTask<?> telling = new FutureTask<Void>(() -> super.notifyCancelled(timeout), null);
        new Thread(telling).start();
        try {
          telling.get();
        } catch (InterruptedException | ExecutionException e) {
          throw new IllegalStateException(e);
        }
      }
    };
  }

  @FoundBy({"cancelledIsNotCalledForExpiredTimeouts"})
  static NaiveTimer reportsACancellationWhenATaskExpires(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void run(NaiveTimeout timeout) {
        super.run(timeout);
        notifyCancelled(timeout);
      }
    };
  }

  @FoundBy({"anExceptionOfCancelledDoesNotAffectOtherTimeouts"})
  static NaiveTimer letsCancelledThrow(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void notifyCancelled(NaiveTimeout timeout) {
        timeout.task().cancelled(timeout);
      }
    };
  }
}
