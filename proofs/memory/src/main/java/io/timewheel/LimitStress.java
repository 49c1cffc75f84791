// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.VarHandle;
import java.util.concurrent.RejectedExecutionException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Tests the comment of {@link PendingLimit}: "No timeout starts while the limit is reached. A
 * cancelled timeout leaves the count before cancel() returns, an expired one before its task runs."
 */
public final class LimitStress {
  private static final VarHandle LIMIT = Rig.field(Engine.class, "limit", PendingLimit.class);

  private LimitStress() {}

  /** Takes all remaining permits. Returns their number. */
  static int left(PendingLimit limit) {
    int left = 0;
    while (left < 9 && limit.tryAcquire()) {
      left++;
    }
    return left;
  }

  /**
   * Takes all remaining permits of an engine, and returns their number. Reads the limit itself,
   * because a closed engine refuses timeouts for another reason.
   */
  static int left(Rig rig) {
    return left((PendingLimit) LIMIT.get(rig.engine));
  }

  /** A limit, some of whose permits are taken. */
  abstract static class Permits {
    final PendingLimit limit;

    Permits(int permits, int taken) {
      limit = new PendingLimit(permits);
      for (int i = 0; i < taken; i++) {
        limit.tryAcquire();
      }
    }

    int acquire() {
      return Rig.asInt(limit.tryAcquire());
    }
  }

  /** Two threads compete for the last permit. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 0", "0, 1, 0"},
      expect = ACCEPTABLE,
      desc = "One got it, and no more is left.")
  @Outcome(expect = FORBIDDEN, desc = "Both or none, or the count is wrong.")
  @State
  public static class AcquireAcquire extends Permits {
    public AcquireAcquire() {
      super(1, 0);
    }

    @Actor
    public void one(III_Result r) {
      r.r1 = acquire();
    }

    @Actor
    public void other(III_Result r) {
      r.r2 = acquire();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = left(limit);
    }
  }

  /** Three threads compete for two permits. */
  @JCStressTest
  @Outcome(
      id = {"1, 1, 0", "1, 0, 1", "0, 1, 1"},
      expect = ACCEPTABLE,
      desc = "Two of the three got one.")
  @Outcome(expect = FORBIDDEN, desc = "Too many, or one was refused while there were permits.")
  @State
  public static class AcquireThreeOfTwo extends Permits {
    public AcquireThreeOfTwo() {
      super(2, 0);
    }

    @Actor
    public void one(III_Result r) {
      r.r1 = acquire();
    }

    @Actor
    public void two(III_Result r) {
      r.r2 = acquire();
    }

    @Actor
    public void three(III_Result r) {
      r.r3 = acquire();
    }
  }

  /**
   * One thread returns its permit and takes one, while another tries: "Not an increment that is
   * undone above the limit: another thread could see the excess", and be refused a permit that no
   * thread holds.
   */
  @JCStressTest
  @Outcome(
      id = {"1, 0", "0, 1"},
      expect = ACCEPTABLE,
      desc = "One of the two got it.")
  @Outcome(expect = FORBIDDEN, desc = "Both got it, or no thread did although it was free.")
  @State
  public static class AcquireReleaseAcquire extends Permits {
    public AcquireReleaseAcquire() {
      super(1, 1);
    }

    @Actor
    public void one(II_Result r) {
      r.r1 = acquire();
    }

    @Actor
    public void other(II_Result r) {
      limit.release(1);
      r.r2 = acquire();
    }
  }

  /** Two threads return their permits at once. */
  @JCStressTest
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "There are two again, and no third one.")
  @Outcome(expect = FORBIDDEN, desc = "One was lost.")
  @State
  public static class ReleaseRelease extends Permits {
    public ReleaseRelease() {
      super(2, 2);
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
    public void end(I_Result r) {
      r.r1 = left(limit);
    }
  }

  /** Two threads compete for the permit that a third one returns. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 0", "0, 1, 0", "0, 0, 1"},
      expect = ACCEPTABLE,
      desc = "One got it, or it is still there.")
  @Outcome(expect = FORBIDDEN, desc = "Given to two, or lost.")
  @State
  public static class AcquireAcquireRelease extends Permits {
    public AcquireAcquireRelease() {
      super(1, 1);
    }

    @Actor
    public void one(III_Result r) {
      r.r1 = acquire();
    }

    @Actor
    public void other(III_Result r) {
      r.r2 = acquire();
    }

    @Actor
    public void release() {
      limit.release(1);
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = left(limit);
    }
  }

  /** A timer with a limit of one, on two stripes. */
  abstract static class Limited {
    final Rig rig = new Rig(2, settings -> settings.maxPendingTimeouts(1));

    int tryStart() {
      try {
        rig.start(5);
        return 1;
      } catch (RejectedExecutionException e) {
        return 0;
      }
    }

    int pending() {
      return (int) rig.engine.pendingTimeouts();
    }
  }

  /** Two threads start a timeout each, with a limit of one. */
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

  /** A cancel or an expiry, whichever is first, makes room for a third timeout. */
  @JCStressTest
  @Outcome(
      id = {"0, 1, 0, 1", "0, 0, 1, 1"},
      expect = ACCEPTABLE,
      desc = "Refused while the old one was there; accepted afterwards.")
  @Outcome(
      id = {"1, 1, 0, 0", "1, 0, 1, 0"},
      expect = ACCEPTABLE,
      desc = "Accepted instead; there is no room for another.")
  @Outcome(expect = FORBIDDEN, desc = "The permit was granted twice, or lost.")
  @State
  public static class StartCancelExpire extends Limited {
    private final WheelTimeout old = rig.start(5);

    public StartCancelExpire() {
      rig.nowNanos = 5;
    }

    @Actor
    public void start(IIII_Result r) {
      r.r1 = tryStart();
    }

    @Actor
    public void cancel(IIII_Result r) {
      r.r2 = Rig.cancel(old);
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
