// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.TimeSource;
import io.timewheel.Timeout;
import java.util.ArrayList;
import java.util.List;

/** Timers with faults in running tasks. */
final class TaskFaults {
  private TaskFaults() {}

  @FoundBy({
    "aTaskThatThrowsDoesNotAffectOtherTimeouts",
    "aTaskThatThrowsOnAnExecutorIsHandledToo",
    "anExceptionOfCancelledDoesNotAffectOtherTimeouts"
  })
  static NaiveTimer isSilentAboutErrors(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void handle(Timeout timeout, Throwable error) {}
    };
  }

  @FoundBy({"aHandlerThatThrowsDoesNotAffectOtherTimeouts"})
  static NaiveTimer stopsWhenAHandlerThrows(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void handle(Timeout timeout, Throwable error) {
        settings.onError().handle(timeout, error);
      }
    };
  }

  @FoundBy({
    "withAnExecutorTasksRunThereAndNowhereElse",
    "aTaskThatThrowsOnAnExecutorIsHandledToo",
    "aHandedOffTaskRunsAfterTheTimerIsStopped",
    "aTaskOnAnExecutorCanStopItsTimer"
  })
  static NaiveTimer ignoresTheExecutor(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void execute(NaiveTimeout timeout) {
        workOf(timeout).run();
      }
    };
  }

  @FoundBy({"aTaskThatTheExecutorRejectsStillRuns"})
  static NaiveTimer dropsRejectedTasks(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void onRejected(Runnable work) {}
    };
  }

  @FoundBy({"aTaskThatTheExecutorRunsAndRejectsRunsOnce"})
  static NaiveTimer repeatsTasksThatRanAndWereRejected(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected Runnable workOf(NaiveTimeout timeout) {
        return () -> run(timeout);
      }
    };
  }

  @FoundBy({"aHandedOffTaskRunsAfterTheTimerIsStopped"})
  static NaiveTimer cancelsHandedOffTasksAtStop(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected Runnable workOf(NaiveTimeout timeout) {
        Runnable work = super.workOf(timeout);
        return () -> {
          if (!isStopped()) {
            work.run();
          }
        };
      }
    };
  }

  @FoundBy({"aDueTimeoutBehindASlowTaskIsStillPending", "aDueTimeoutThatStopCancelsDoesNotRun"})
  static NaiveTimer takesAllDueTimeoutsBeforeItRunsAny(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void runAllDue() {
        List<NaiveTimeout> batch = new ArrayList<>();
        for (NaiveTimeout due = poll(); due != null; due = poll()) {
          batch.add(due);
        }
        batch.forEach(this::execute);
      }
    };
  }

  @FoundBy({"aTaskThatThrowsDoesNotAffectOtherTimeouts"})
  static NaiveTimer givesUpAfterAnError(TimerSettings settings, TimeSource clock) {
    return new NaiveTimer(settings, clock) {
      @Override
      protected void run(NaiveTimeout timeout) {
        try {
          timeout.task().run(timeout);
        } catch (Throwable e) {
          handle(timeout, e);
          heap.clear();
        }
      }
    };
  }
}
