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
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Tests that no wake-up is lost: the steps P1 to P5 and W0 to W5 of {@link WakeUp}, and the steps 1
 * to 4 of {@link Worker}. The threads do not park, so a run executes the steps millions of times.
 * The threads of {@link WorkerStress} do park.
 *
 * <p>These tests detect a wake-up by the withdrawal of the plan: only P5 withdraws it, before it
 * unparks.
 */
public final class WakeUpStress {
  private WakeUpStress() {}

  /**
   * An engine with nothing to do before tick 100. Unless a test defines another outcome, the
   * outcome is whether the timer thread parks, and whether it is woken.
   */
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Producer first: the second look saw it.")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "Both saw each other; an unnecessary wake-up.")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Timer thread first: parks, and is woken.")
  @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "Lost wake-up: parks, and is not woken.")
  abstract static class Idle {
    final Rig rig;
    final WheelTimeout far;

    Idle(int stripes) {
      rig = new Rig(stripes, settings -> {});
      far = rig.start(100);
      rig.engine.wakeUp.awake(); // like a timer thread that was awake and is about to park
    }

    /** Executes W1 to W5. Returns true if the timer thread would park. */
    boolean parks() {
      rig.engine.wakeUp.plan(100);
      return rig.engine.nextTick() >= 100 && !rig.engine.wakeUp.isWithdrawn();
    }

    boolean woken() {
      return rig.engine.wakeUp.isWithdrawn();
    }
  }

  /** A timeout is started while the timer thread decides to park. */
  @JCStressTest
  @State
  public static class Start extends Idle {
    public Start() {
      super(1);
    }

    @Actor
    public void worker(II_Result r) {
      r.r1 = Rig.asInt(parks());
    }

    @Actor
    public void producer() {
      rig.start(5);
    }

    @Arbiter
    public void end(II_Result r) {
      r.r2 = Rig.asInt(woken());
    }
  }

  /** A pending timeout is moved to an earlier deadline while the timer thread decides to park. */
  @JCStressTest
  @State
  public static class Move extends Idle {
    public Move() {
      super(1);
    }

    @Actor
    public void worker(II_Result r) {
      r.r1 = Rig.asInt(parks());
    }

    @Actor
    public void producer() {
      far.reschedule(5, TimeUnit.NANOSECONDS);
    }

    @Arbiter
    public void end(II_Result r) {
      r.r2 = Rig.asInt(woken());
    }
  }

  /** Two timeouts, on one stripe or on two, against the timer thread. */
  @JCStressTest
  @State
  public static class StartStart extends Idle {
    public StartStart() {
      super(2);
    }

    @Actor
    public void worker(II_Result r) {
      r.r1 = Rig.asInt(parks());
    }

    @Actor
    public void early() {
      rig.start(3);
    }

    @Actor
    public void late() {
      rig.start(5);
    }

    @Arbiter
    public void end(II_Result r) {
      r.r2 = Rig.asInt(woken());
    }
  }

  /**
   * The same against a timer thread that plans again whenever its second check found a timeout: "If
   * the timer thread published another plan, the argument holds for that plan and its own W2." At
   * the end, its plan is the earliest deadline, or it has been woken.
   */
  @JCStressTest
  @Outcome(id = "3, 0", expect = ACCEPTABLE, desc = "Parks until the earlier one.")
  @Outcome(
      id = {"3, 1", "5, 1", "100, 1"},
      expect = ACCEPTABLE,
      desc = "Parks for an older plan, and is woken.")
  @Outcome(expect = FORBIDDEN, desc = "Parks past a deadline, and is not woken.")
  @State
  public static class StartStartReplan extends Idle {
    public StartStartReplan() {
      super(2);
    }

    @Actor
    public void worker(II_Result r) {
      long plan;
      do {
        plan = Math.min(rig.engine.wakeUp.awake(), rig.engine.nextTick());
        rig.engine.wakeUp.plan(plan);
      } while (rig.engine.nextTick() < plan || rig.engine.wakeUp.isWithdrawn());
      r.r1 = (int) plan;
    }

    @Actor
    public void early() {
      rig.start(3);
    }

    @Actor
    public void late() {
      rig.start(5);
    }

    @Arbiter
    public void end(II_Result r) {
      r.r2 = Rig.asInt(woken());
    }
  }

  /**
   * No wake-up is unnecessary: two later deadlines leave the plan unchanged in every interleaving;
   * the comment of {@link WakeUp}, "It wakes the timer thread if the deadline is earlier".
   */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Parks undisturbed.")
  @Outcome(expect = FORBIDDEN, desc = "Woken for a later deadline.")
  @State
  public static class LaterDeadlines extends Idle {
    public LaterDeadlines() {
      super(2);
    }

    @Actor
    public void worker(II_Result r) {
      r.r1 = Rig.asInt(parks());
    }

    @Actor
    public void one() {
      rig.start(100);
    }

    @Actor
    public void other() {
      rig.start(200);
    }

    @Arbiter
    public void end(II_Result r) {
      r.r2 = Rig.asInt(!woken());
    }
  }

  /**
   * A timeout is cancelled before the timer thread checks the stripes, and leaves only its
   * deadline: "it plans no later than the hint". The thread wakes up. If it did not wake up for the
   * timeout, it plans again.
   */
  @JCStressTest
  @Outcome(id = "5, -1", expect = ACCEPTABLE, desc = "Came up for the hint, and took it.")
  @Outcome(id = "-1, 5", expect = ACCEPTABLE, desc = "Came up before; woken again by the timeout.")
  @Outcome(id = "-1, -1", expect = ACCEPTABLE, desc = "Was up; there was no thread to wake.")
  @Outcome(expect = FORBIDDEN, desc = "The hint is wrong, or is returned twice.")
  @State
  public static class Hint extends Idle {
    public Hint() {
      super(1);
      rig.engine.wakeUp.plan(100);
    }

    @Actor
    public void worker(II_Result r) {
      r.r1 = hint(rig.engine.wakeUp.awake());
      if (r.r1 < 0) {
        rig.engine.wakeUp.plan(100);
      }
    }

    @Actor
    public void producer() {
      rig.start(5).cancel();
    }

    @Arbiter
    public void end(II_Result r) {
      r.r2 = hint(rig.engine.wakeUp.awake());
    }

    private static int hint(long tick) {
      return tick == Ticks.NEVER ? -1 : (int) tick;
    }
  }
}
