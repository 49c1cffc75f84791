// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Tests tasks on an executor: the comment of {@link WheelTimeout}, "HANDED_OFF to EXPIRED is a
 * compare-and-set. It keeps a task from running twice if an executor accepts the task and then
 * reports a rejection."
 */
public final class HandOffStress {
  private HandOffStress() {}

  /** The executor runs the task twice, on two threads. */
  @JCStressTest
  @Outcome(id = "10", expect = ACCEPTABLE, desc = "Ran once.")
  @Outcome(expect = FORBIDDEN, desc = "Ran twice, or not at all.")
  @State
  public static class RunRun {
    private final Rig rig = new Rig(1, settings -> settings.executor(execution -> {}));
    private final WheelTimeout handedOff = rig.start(1);

    public RunRun() {
      rig.runDueAt(1);
    }

    @Actor
    public void one() {
      handedOff.run();
    }

    @Actor
    public void other() {
      handedOff.run();
    }

    @Arbiter
    public void end(I_Result r) {
      r.r1 = rig.calls();
    }
  }

  /** The executor passes the task to another thread, and then rejects it. */
  @JCStressTest
  @Outcome(
      id = {"10, 0", "10, 1"},
      expect = ACCEPTABLE,
      desc = "Ran once, on the worker or on the other thread.")
  @Outcome(expect = FORBIDDEN, desc = "Ran twice, or not at all.")
  @State
  public static class AcceptAndReject {
    private volatile @Nullable Runnable passed;
    private final Rig rig = new Rig(1, settings -> settings.executor(this::acceptAndReject));

    public AcceptAndReject() {
      rig.start(1);
    }

    private void acceptAndReject(Runnable execution) {
      passed = execution;
      throw new RejectedExecutionException();
    }

    @Actor
    public void worker() {
      rig.runDueAt(1);
    }

    @Actor
    public void executor(II_Result r) {
      Runnable execution = passed;
      if (execution != null) {
        r.r2 = 1;
        execution.run();
      }
    }

    @Arbiter
    public void end(II_Result r) {
      r.r1 = rig.calls();
    }
  }

  /** Cancel against the hand-off: contract, 15, a timeout that was handed off is expired. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Cancelled; the executor never saw it.")
  @Outcome(id = "0, 10", expect = ACCEPTABLE, desc = "Handed off, and not cancelled.")
  @Outcome(expect = FORBIDDEN, desc = "Both or neither.")
  @State
  public static class CancelHandOff {
    private final Rig rig = new Rig(1, settings -> settings.executor(Runnable::run));
    private final WheelTimeout timeout = rig.start(1);

    public CancelHandOff() {
      rig.nowNanos = 1;
    }

    @Actor
    public void cancel(II_Result r) {
      r.r1 = Rig.cancel(timeout);
    }

    @Actor
    public void expire() {
      rig.runDue();
    }

    @Arbiter
    public void end(II_Result r) {
      r.r2 = rig.calls();
    }
  }
}
