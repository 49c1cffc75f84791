// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.RejectedExecutionException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The comment of {@link PendingLimit}: "never more than the limit are pending, and a place is free
 * again before cancel() returns and before the task runs".
 */
public final class LimitStress {
  private LimitStress() {}

  /** Two for the last permit. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 0", "0, 1, 0"},
      expect = ACCEPTABLE,
      desc = "One got it, and no more is left.")
  @Outcome(expect = FORBIDDEN, desc = "Both or none, or the count is wrong.")
  @State
  public static class AcquireAcquire {
    private final PendingLimit limit = new PendingLimit(1);

    @Actor
    public void one(III_Result r) {
      r.r1 = Rig.asInt(limit.tryAcquire());
    }

    @Actor
    public void other(III_Result r) {
      r.r2 = Rig.asInt(limit.tryAcquire());
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = Rig.asInt(limit.tryAcquire());
    }
  }

  /** Three for two permits. */
  @JCStressTest
  @Outcome(
      id = {"1, 1, 0", "1, 0, 1", "0, 1, 1"},
      expect = ACCEPTABLE,
      desc = "Two of the three got one.")
  @Outcome(expect = FORBIDDEN, desc = "Too many, or one was refused while there were permits.")
  @State
  public static class AcquireThreeOfTwo {
    private final PendingLimit limit = new PendingLimit(2);

    @Actor
    public void one(III_Result r) {
      r.r1 = Rig.asInt(limit.tryAcquire());
    }

    @Actor
    public void two(III_Result r) {
      r.r2 = Rig.asInt(limit.tryAcquire());
    }

    @Actor
    public void three(III_Result r) {
      r.r3 = Rig.asInt(limit.tryAcquire());
    }
  }

  /**
   * One gives its permit back and takes one, while another one tries: "not an increment that is
   * taken back when it was one too many: another thread could see it", and be refused a permit that
   * nobody has.
   */
  @JCStressTest
  @Outcome(
      id = {"1, 0", "0, 1"},
      expect = ACCEPTABLE,
      desc = "One of the two got it.")
  @Outcome(expect = FORBIDDEN, desc = "Both got it, or nobody although it was free.")
  @State
  public static class AcquireReleaseAcquire {
    private final PendingLimit limit = new PendingLimit(1);

    public AcquireReleaseAcquire() {
      limit.tryAcquire();
    }

    @Actor
    public void one(II_Result r) {
      r.r1 = Rig.asInt(limit.tryAcquire());
    }

    @Actor
    public void other(II_Result r) {
      limit.release(1);
      r.r2 = Rig.asInt(limit.tryAcquire());
    }
  }

  /** Two give theirs back at once. */
  @JCStressTest
  @Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "There are two again, and no third one.")
  @Outcome(expect = FORBIDDEN, desc = "One was lost.")
  @State
  public static class ReleaseRelease {
    private final PendingLimit limit = new PendingLimit(2);

    public ReleaseRelease() {
      limit.tryAcquire();
      limit.tryAcquire();
    }

    @Actor
    public void one() {
      limit.release(1);
    }

    @Actor
    public void other() {
      limit.release(1);
    }

    @Arbiter
    public void end(III_Result r) {
      r.r1 = Rig.asInt(limit.tryAcquire());
      r.r2 = Rig.asInt(limit.tryAcquire());
      r.r3 = Rig.asInt(limit.tryAcquire());
    }
  }

  /** Two for the permit that a third one gives back. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 0", "0, 1, 0", "0, 0, 1"},
      expect = ACCEPTABLE,
      desc = "One got it, or it is still there.")
  @Outcome(expect = FORBIDDEN, desc = "Given to two, or lost.")
  @State
  public static class AcquireAcquireRelease {
    private final PendingLimit limit = new PendingLimit(1);

    public AcquireAcquireRelease() {
      limit.tryAcquire();
    }

    @Actor
    public void one(III_Result r) {
      r.r1 = Rig.asInt(limit.tryAcquire());
    }

    @Actor
    public void other(III_Result r) {
      r.r2 = Rig.asInt(limit.tryAcquire());
    }

    @Actor
    public void release() {
      limit.release(1);
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = Rig.asInt(limit.tryAcquire());
    }
  }

  /** A timer with a limit of one, on two stripes. */
  abstract static class Limited {
    final Rig rig = new Rig(2, settings -> settings.maxPendingTimeouts(1));
    final Rig.Task task = new Rig.Task();

    int tryStart() {
      try {
        rig.start(task, 5);
        return 1;
      } catch (RejectedExecutionException e) {
        return 0;
      }
    }

    int pending() {
      return (int) rig.engine.pendingTimeouts();
    }
  }

  /** Two timeouts for one place. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 1", "0, 1, 1"},
      expect = ACCEPTABLE,
      desc = "One accepted, one refused.")
  @Outcome(expect = FORBIDDEN, desc = "Both or none.")
  @State
  public static class StartStart extends Limited {
    @Actor
    public void one(III_Result r) {
      r.r1 = tryStart();
    }

    @Actor
    public void other(III_Result r) {
      r.r2 = tryStart();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = pending();
    }
  }

  /** A place given up by a cancel or by an expiry, whichever was first, and taken by a third. */
  @JCStressTest
  @Outcome(
      id = {"0, 1, 0, 1", "0, 0, 1, 1"},
      expect = ACCEPTABLE,
      desc = "Refused while the old one was there; accepted afterwards.")
  @Outcome(
      id = {"1, 1, 0, 0", "1, 0, 1, 0"},
      expect = ACCEPTABLE,
      desc = "Accepted in its place; there is no second one.")
  @Outcome(expect = FORBIDDEN, desc = "The place was given twice, or lost.")
  @State
  public static class StartCancelExpire extends Limited {
    private final WheelTimeout old = rig.start(task, 5);

    public StartCancelExpire() {
      rig.nowNanos = 5;
    }

    @Actor
    public void start(IIII_Result r) {
      r.r1 = tryStart();
    }

    @Actor
    public void cancel(IIII_Result r) {
      r.r2 = Rig.orBroken(() -> Rig.asInt(old.cancel()));
    }

    @Actor
    public void expire(IIII_Result r) {
      r.r3 = rig.runDue();
    }

    @Arbiter
    public void end(IIII_Result r) {
      r.r4 = tryStart();
    }
  }
}
