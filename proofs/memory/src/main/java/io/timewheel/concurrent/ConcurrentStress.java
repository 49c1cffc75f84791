// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.timewheel.PolledTimer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.Ref;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Tests which thread decides about a task of an executor, and about a future with a deadline: the
 * comments of {@link ScheduledTask}, "Races", and of {@link LiveTasks}. Workers run tasks in place.
 */
@Ref("promise-33")
@Ref("promise-34")
@Ref("promise-36")
public final class ConcurrentStress {
  private ConcurrentStress() {}

  /** A timer on a clock that a test sets, with a tick of 1 ns. */
  abstract static class Rig {
    /** Volatile, so that the actors read the value that the constructor has set. */
    volatile long nowNanos;

    final PolledTimer timer =
        PolledTimer.builder().tick(Duration.ofNanos(1)).timeSource(() -> nowNanos).build();

    int pending() {
      return (int) timer.pendingTimeouts();
    }

    static int asInt(boolean flag) {
      return flag ? 1 : 0;
    }
  }

  /** A periodic task that is due: the thread that polls runs it, and starts its next wait. */
  abstract static class Periodic extends Rig {
    final WheelScheduledExecutor executor =
        WheelScheduledExecutor.builder().timer(timer).executor(Runnable::run).build();
    final ScheduledFuture<?> task = executor.scheduleAtFixedRate(() -> {}, 10, 10, NANOSECONDS);

    Periodic() {
      nowNanos = 10;
    }
  }

  /** A cancel against the run that arms the next one: a cancelled task is not in the timer. */
  @JCStressTest
  @Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "Out of the timer at once, and permanently.")
  @Outcome(expect = FORBIDDEN, desc = "Left the timer after cancel returned, or never.")
  @State
  public static class CancelArm extends Periodic {
    @Actor
    public void run() {
      timer.poll();
    }

    @Actor
    public void cancel(III_Result r) {
      r.r1 = asInt(task.cancel(false));
      r.r2 = pending();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = pending();
    }
  }

  /** The same for tasks that a shutdown removes. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 1"},
      expect = ACCEPTABLE,
      desc = "Returned, and out of the timer at once.")
  @Outcome(
      id = {"0, 0, 1"},
      expect = ACCEPTABLE,
      desc = "Found while it ran, and ended after that run.")
  @Outcome(expect = FORBIDDEN, desc = "Left on the timer, or live.")
  @State
  public static class ShutdownNowArm extends Periodic {
    @Actor
    public void run() {
      timer.poll();
      Thread.interrupted(); // of the run, which did not notice
    }

    @Actor
    public void shutdownNow(III_Result r) {
      r.r1 = executor.shutdownNow().size();
      r.r2 = pending();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = asInt(executor.isTerminated() && pending() == 0);
    }
  }

  /** A submission against a shutdown after which no task runs. */
  @JCStressTest
  @Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "Refused.")
  @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "Accepted, and cancelled.")
  @Outcome(expect = FORBIDDEN, desc = "Accepted and lost, or the executor does not end.")
  @State
  public static class ScheduleShutdown extends Submission {
    public ScheduleShutdown() {
      super(false);
    }

    @Actor
    public void schedule(III_Result r) {
      r.r1 = asInt(accepted());
    }

    @Actor
    public void shutdown() {
      executor.shutdown();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r2 = task == null ? 0 : asInt(task.isCancelled());
      r.r3 = asInt(executor.isTerminated() && pending() == 0);
    }
  }

  /** A submission against a shutdown after which accepted tasks still run. */
  @JCStressTest
  @Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "Refused.")
  @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "Accepted, and run.")
  @Outcome(expect = FORBIDDEN, desc = "Accepted and lost, or refused and run.")
  @State
  public static class ScheduleShutdownKeeping extends Submission {
    public ScheduleShutdownKeeping() {
      super(true);
    }

    @Actor
    public void schedule(III_Result r) {
      r.r1 = asInt(accepted());
    }

    @Actor
    public void shutdown() {
      executor.shutdown();
    }

    @Arbiter
    public void end(III_Result r) {
      nowNanos = 10;
      timer.poll();
      r.r2 = runs.get();
      r.r3 = asInt(executor.isTerminated() && pending() == 0);
    }
  }

  /** An executor that receives its first task. */
  abstract static class Submission extends Rig {
    final AtomicInteger runs = new AtomicInteger();
    final WheelScheduledExecutor executor;
    @Nullable ScheduledFuture<?> task;

    Submission(boolean keeps) {
      executor =
          WheelScheduledExecutor.builder()
              .timer(timer)
              .executor(Runnable::run)
              .executeExistingDelayedTasksAfterShutdown(keeps)
              .build();
    }

    boolean accepted() {
      try {
        task = executor.schedule((Runnable) runs::incrementAndGet, 10, NANOSECONDS);
        return true;
      } catch (RejectedExecutionException e) {
        return false;
      }
    }
  }

  /** A future that completes against its deadline. */
  @JCStressTest
  @Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "Completed in time.")
  @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "Timed out.")
  @Outcome(expect = FORBIDDEN, desc = "Both, neither, or its timeout was left on the timer.")
  @State
  public static class CompleteTimeOut extends Rig {
    private final CompletableFuture<String> future =
        FutureTimeouts.on(timer, Runnable::run)
            .orTimeout(new CompletableFuture<>(), Duration.ofNanos(10));

    public CompleteTimeOut() {
      nowNanos = 10;
    }

    @Actor
    public void complete(III_Result r) {
      r.r1 = asInt(future.complete("in time"));
      r.r3 = pending();
    }

    @Actor
    public void timeOut() {
      timer.poll();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r2 = asInt(!future.isCompletedExceptionally());
      r.r3 += pending();
    }
  }

  /** A future that completes while its deadline is set. */
  @JCStressTest
  @Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "Complete, and out of the timer.")
  @Outcome(expect = FORBIDDEN, desc = "Its timeout was left on the timer.")
  @State
  public static class CompleteWatch extends Rig {
    private final CompletableFuture<String> future = new CompletableFuture<>();

    @Actor
    public void complete(III_Result r) {
      r.r1 = asInt(future.complete("in time"));
    }

    @Actor
    public void watch(III_Result r) {
      r.r2 =
          asInt(
              FutureTimeouts.on(timer, Runnable::run).orTimeout(future, Duration.ofDays(1))
                  == future);
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = pending();
    }
  }
}
