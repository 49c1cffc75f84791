// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Tests a task that re-arms its timeout while other threads use that timeout: {@link WheelTimeout},
 * "Re-arming".
 */
public final class RearmStress {
  private RearmStress() {}

  /** A timeout that is due, and whose task re-arms it once. */
  abstract static class Rearming implements TimerTask {
    final Rig rig = new Rig();
    final WheelTimeout timeout = rig.start(this, 1);
    private int runs;
    private int cancellations;

    Rearming() {
      rig.nowNanos = 1;
    }

    @Override
    public final void run(Timeout self) {
      if (++runs == 1) {
        self.reschedule(10, TimeUnit.NANOSECONDS);
      }
    }

    @Override
    public final void cancelled(Timeout self) {
      cancellations++;
    }

    /**
     * Returns the number of runs, plus ten for each call of the other callback, after all remaining
     * timeouts have become due.
     */
    final int callsInTheEnd() {
      rig.runDueAt(100);
      rig.runDueAt(200);
      return rig.broken ? Rig.BROKEN : runs + 10 * cancellations;
    }
  }

  /** Re-arming against cancel. */
  @JCStressTest
  @Outcome(id = "1, 1, 10", expect = ACCEPTABLE, desc = "Cancelled before the run.")
  @Outcome(id = "1, 0, 10", expect = ACCEPTABLE, desc = "Cancelled before the run.")
  @Outcome(id = "1, 1, 11", expect = ACCEPTABLE, desc = "Cancelled after it was re-armed.")
  @Outcome(id = "0, 1, 2", expect = ACCEPTABLE, desc = "Ran twice, and cancel returned false.")
  @Outcome(expect = FORBIDDEN, desc = "Cancelled and run, or lost.")
  @State
  public static class RearmCancel extends Rearming {
    @Actor
    public void cancel(III_Result r) {
      r.r1 = Rig.cancel(timeout);
    }

    @Actor
    public void expire(III_Result r) {
      r.r2 = rig.runDue();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = callsInTheEnd();
    }
  }

  /** Re-arming against stop. */
  @JCStressTest
  @Outcome(id = "1, 10", expect = ACCEPTABLE, desc = "Stopped before the run.")
  @Outcome(id = "1, 11", expect = ACCEPTABLE, desc = "Returned after it was re-armed.")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "Stopped during the run: not re-armed.")
  @Outcome(expect = FORBIDDEN, desc = "Lost, or run and returned at once.")
  @State
  public static class RearmStop extends Rearming {
    @Actor
    public void stop(II_Result r) {
      r.r1 = rig.stop();
    }

    @Actor
    public void expire() {
      rig.runDue();
    }

    @Arbiter
    public void end(II_Result r) {
      r.r2 = rig.engine.pendingTimeouts() == 0 ? callsInTheEnd() : Rig.BROKEN;
    }
  }

  /** Re-arming against a move by another thread, which must not re-arm it a second time. */
  @JCStressTest
  @Outcome(
      id = {"0, 2", "1, 2"},
      expect = ACCEPTABLE,
      desc = "Ran once for each time that it was pending.")
  @Outcome(expect = FORBIDDEN, desc = "Lost, or run too often.")
  @State
  public static class RearmReschedule extends Rearming {
    @Actor
    public void reschedule(II_Result r) {
      r.r1 = Rig.orBroken(() -> Rig.asInt(timeout.reschedule(20, TimeUnit.NANOSECONDS)));
    }

    @Actor
    public void expire() {
      rig.runDue();
    }

    @Arbiter
    public void end(II_Result r) {
      r.r2 = callsInTheEnd();
    }
  }
}
