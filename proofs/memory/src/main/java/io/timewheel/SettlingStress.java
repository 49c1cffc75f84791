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
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Tests which of several competing threads takes a timeout. The comment of {@link Stripe} states:
 * "the thread that takes it first runs, cancels or moves the timeout". The comment of {@link
 * WheelTimeout} states: "exactly one of the timer thread, a cancel and a stop takes it".
 */
public final class SettlingStress {
  private SettlingStress() {}

  /** A timeout that is due, and has not been taken. */
  abstract static class Due {
    final Rig rig = new Rig();
    final WheelTimeout timeout = rig.start(1);

    Due() {
      rig.nowNanos = 1;
    }

    int cancel() {
      return Rig.cancel(timeout);
    }

    int expire() {
      return rig.runDue();
    }

    /** Moves the timeout to a time that the clock does not reach while the actors run. */
    int reschedule() {
      return Rig.orBroken(() -> Rig.asInt(timeout.reschedule(10, TimeUnit.NANOSECONDS)));
    }

    /** Lets all remaining timeouts become due, and then returns the calls of the task. */
    int callsInTheEnd() {
      rig.runDueAt(100);
      return rig.calls();
    }
  }

  /** Cancel against expire. */
  @JCStressTest
  @Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "Cancelled, its callback called once.")
  @Outcome(id = "0, 1, 10", expect = ACCEPTABLE, desc = "Ran once, and cancel returned false.")
  @Outcome(expect = FORBIDDEN, desc = "Both, neither, or twice.")
  @State
  public static class CancelExpire extends Due {
    @Actor
    public void cancel(III_Result r) {
      r.r1 = cancel();
    }

    @Actor
    public void expire(III_Result r) {
      r.r2 = expire();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = callsInTheEnd();
    }
  }

  /** Cancel against cancel. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 1", "0, 1, 1"},
      expect = ACCEPTABLE,
      desc = "True for exactly one caller.")
  @Outcome(expect = FORBIDDEN, desc = "True for both or for none, or two callbacks.")
  @State
  public static class CancelCancel extends Due {
    @Actor
    public void one(III_Result r) {
      r.r1 = cancel();
    }

    @Actor
    public void other(III_Result r) {
      r.r2 = cancel();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = callsInTheEnd();
    }
  }

  /** Reschedule against expire. */
  @JCStressTest
  @Outcome(id = "1, 0, 10", expect = ACCEPTABLE, desc = "Moved; ran once, later.")
  @Outcome(id = "0, 1, 10", expect = ACCEPTABLE, desc = "Ran once, and was not moved.")
  @Outcome(expect = FORBIDDEN, desc = "Ran for the old deadline although moved, twice, or never.")
  @State
  public static class RescheduleExpire extends Due {
    @Actor
    public void reschedule(III_Result r) {
      r.r1 = reschedule();
    }

    @Actor
    public void expire(III_Result r) {
      r.r2 = expire();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = callsInTheEnd();
    }
  }

  /** Reschedule against cancel. */
  @JCStressTest
  @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "Moved, then cancelled.")
  @Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "Cancelled; there was nothing to move.")
  @Outcome(expect = FORBIDDEN, desc = "Ran after the cancel, or lost the cancellation.")
  @State
  public static class RescheduleCancel extends Due {
    @Actor
    public void reschedule(III_Result r) {
      r.r1 = reschedule();
    }

    @Actor
    public void cancel(III_Result r) {
      r.r2 = cancel();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = callsInTheEnd();
    }
  }

  /** Reschedule against reschedule: the last one counts, and the lists stay intact. */
  @JCStressTest
  @Outcome(
      id = {"10, 0, 10", "20, 0, 10"},
      expect = ACCEPTABLE,
      desc = "Moved twice; ran once, for the deadline that the handle shows.")
  @Outcome(expect = FORBIDDEN, desc = "Ran early, twice or never.")
  @State
  public static class RescheduleReschedule {
    private final Rig rig = new Rig();
    private final WheelTimeout timeout = rig.start(1);

    @Actor
    public void one() {
      timeout.reschedule(10, TimeUnit.NANOSECONDS);
    }

    @Actor
    public void other() {
      timeout.reschedule(20, TimeUnit.NANOSECONDS);
    }

    @Arbiter
    public void end(III_Result r) {
      long deadlineNanos = timeout.remaining(TimeUnit.NANOSECONDS);
      r.r1 = (int) deadlineNanos;
      rig.runDueAt(deadlineNanos - 1);
      r.r2 = rig.calls();
      rig.runDueAt(deadlineNanos);
      r.r3 = rig.calls();
    }
  }

  /** Cancel against expire against reschedule. */
  @JCStressTest
  @Outcome(id = "1, 0, 0, 1", expect = ACCEPTABLE, desc = "Cancelled first.")
  @Outcome(id = "1, 0, 1, 1", expect = ACCEPTABLE, desc = "Moved, then cancelled.")
  @Outcome(id = "0, 1, 0, 10", expect = ACCEPTABLE, desc = "Ran first.")
  @Outcome(expect = FORBIDDEN, desc = "More than one thread took it, or none.")
  @State
  public static class CancelExpireReschedule extends Due {
    @Actor
    public void cancel(IIII_Result r) {
      r.r1 = cancel();
    }

    @Actor
    public void expire(IIII_Result r) {
      r.r2 = expire();
    }

    @Actor
    public void reschedule(IIII_Result r) {
      r.r3 = reschedule();
    }

    @Arbiter
    public void end(IIII_Result r) {
      r.r4 = callsInTheEnd();
    }
  }

  /** Stop against expire. */
  @JCStressTest
  @Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "Returned by stop, its callback called.")
  @Outcome(id = "0, 1, 10", expect = ACCEPTABLE, desc = "Ran once.")
  @Outcome(expect = FORBIDDEN, desc = "Both, neither, or twice.")
  @State
  public static class StopExpire extends Due {
    @Actor
    public void stop(III_Result r) {
      r.r1 = rig.stop();
    }

    @Actor
    public void expire(III_Result r) {
      r.r2 = expire();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = callsInTheEnd();
    }
  }

  /** Stop against cancel. */
  @JCStressTest
  @Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "Returned by stop, its callback called.")
  @Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "Cancelled, and not returned.")
  @Outcome(expect = FORBIDDEN, desc = "Both, neither, or a second callback.")
  @State
  public static class StopCancel extends Due {
    @Actor
    public void stop(III_Result r) {
      r.r1 = rig.stop();
    }

    @Actor
    public void cancel(III_Result r) {
      r.r2 = cancel();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = callsInTheEnd();
    }
  }

  /** Stop against cancel against expire. */
  @JCStressTest
  @Outcome(id = "1, 0, 0, 1", expect = ACCEPTABLE, desc = "Returned by stop.")
  @Outcome(id = "0, 1, 0, 1", expect = ACCEPTABLE, desc = "Cancelled.")
  @Outcome(id = "0, 0, 1, 10", expect = ACCEPTABLE, desc = "Ran.")
  @Outcome(expect = FORBIDDEN, desc = "More than one thread took it, or none.")
  @State
  public static class StopCancelExpire extends Due {
    @Actor
    public void stop(IIII_Result r) {
      r.r1 = rig.stop();
    }

    @Actor
    public void cancel(IIII_Result r) {
      r.r2 = cancel();
    }

    @Actor
    public void expire(IIII_Result r) {
      r.r3 = expire();
    }

    @Arbiter
    public void end(IIII_Result r) {
      r.r4 = callsInTheEnd();
    }
  }

  /** Stop against reschedule against expire. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 0, 1", "1, 1, 0, 1"},
      expect = ACCEPTABLE,
      desc = "Returned by stop, moved before or not.")
  @Outcome(id = "0, 0, 1, 10", expect = ACCEPTABLE, desc = "Ran.")
  @Outcome(expect = FORBIDDEN, desc = "More than one thread took it, or none.")
  @State
  public static class StopRescheduleExpire extends Due {
    @Actor
    public void stop(IIII_Result r) {
      r.r1 = rig.stop();
    }

    @Actor
    public void reschedule(IIII_Result r) {
      r.r2 = reschedule();
    }

    @Actor
    public void expire(IIII_Result r) {
      r.r3 = expire();
    }

    @Arbiter
    public void end(IIII_Result r) {
      r.r4 = callsInTheEnd();
    }
  }
}
