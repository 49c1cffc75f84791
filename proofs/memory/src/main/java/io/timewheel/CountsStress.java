// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Tests the counts of {@link Stripe}, which are plain fields under its lock, and {@link
 * TimerStats}: started = expired + cancelled + pending.
 */
public final class CountsStress {
  private CountsStress() {}

  /** Two timeouts are started at once: both are counted, and both are on the list. */
  @JCStressTest
  @Outcome(id = "2, 2", expect = ACCEPTABLE, desc = "Counted and linked.")
  @Outcome(expect = FORBIDDEN, desc = "One was lost.")
  @State
  public static class StartStart {
    private final Rig rig = new Rig();

    @Actor
    public void one() {
      rig.start(5);
    }

    @Actor
    public void other() {
      rig.start(5);
    }

    @Arbiter
    public void end(II_Result r) {
      r.r1 = (int) rig.engine.pendingTimeouts();
      r.r2 = rig.stop();
    }
  }

  /** Two neighbours of one list are cancelled at once, and a third stays. */
  @JCStressTest
  @Outcome(id = "1, 2, 1", expect = ACCEPTABLE, desc = "Two gone, one left.")
  @Outcome(expect = FORBIDDEN, desc = "The list or the counts are broken.")
  @State
  public static class CancelCancel {
    private final Rig rig = new Rig();
    private final WheelTimeout first = rig.start(5);
    private final WheelTimeout second = rig.start(5);

    public CancelCancel() {
      rig.start(5);
    }

    @Actor
    public void one() {
      Rig.cancel(first);
    }

    @Actor
    public void other() {
      Rig.cancel(second);
    }

    @Arbiter
    public void end(III_Result r) {
      r.r1 = (int) rig.engine.pendingTimeouts();
      r.r2 = (int) rig.engine.stats().cancelled();
      r.r3 = rig.stop();
    }
  }

  /** The values that pendingTimeouts may return while others start and cancel. */
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "The old one cancelled, no new one pending.")
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "The old one or a new one.")
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "A new one, and the old one still pending.")
  @Outcome(expect = FORBIDDEN, desc = "Negative, or more than were ever pending at once.")
  @State
  public static class PendingSeen {
    private final Rig rig = new Rig();
    private final WheelTimeout old = rig.start(5);

    @Actor
    public void start() {
      rig.start(5).cancel();
      rig.start(5).cancel();
      rig.start(5);
    }

    @Actor
    public void cancel() {
      Rig.cancel(old);
    }

    @Actor
    public void read(I_Result r) {
      r.r1 = (int) rig.engine.pendingTimeouts();
    }
  }

  /** The pending count never falls below the number of timeouts that stay pending. */
  @JCStressTest
  @Outcome(
      id = {"1", "2"},
      expect = ACCEPTABLE,
      desc = "The one that stays, with or without the short-lived one.")
  @Outcome(expect = FORBIDDEN, desc = "The parts of the sum are of different moments.")
  @State
  public static class StartStartCancel {
    private final Rig rig = new Rig();

    public StartStartCancel() {
      rig.start(5);
    }

    @Actor
    public void startAndCancel() {
      rig.start(5).cancel();
      rig.start(5).cancel();
      rig.start(5).cancel();
    }

    @Actor
    public void read(I_Result r) {
      r.r1 = (int) rig.engine.pendingTimeouts();
    }
  }

  /**
   * One thread starts and cancels a timeout, and another reads the counts. The counts never contain
   * a cancel without its start, even with several stripes.
   */
  @JCStressTest
  @Outcome(
      id = {"0, 0, 0", "1, 1, 0", "0, 1, 1"},
      expect = ACCEPTABLE,
      desc = "Before, between, after.")
  @Outcome(expect = FORBIDDEN, desc = "The counts contradict each other.")
  @State
  public static class StatsSeen {
    private final Rig rig = new Rig(2, settings -> {});

    @Actor
    public void startAndCancel() {
      rig.start(5).cancel();
    }

    @Actor
    public void read(III_Result r) {
      TimerStats stats = rig.engine.stats();
      r.r1 = (int) stats.pending();
      r.r2 = (int) stats.started();
      r.r3 = (int) stats.cancelled();
    }
  }

  /** Start, cancel and expire at once; finally the counts balance. */
  @JCStressTest
  @Outcome(
      id = {"1, 2, 1", "1, 2, 10"},
      expect = ACCEPTABLE,
      desc = "One new pending; the old one either cancelled or expired.")
  @Outcome(expect = FORBIDDEN, desc = "The counts do not balance.")
  @State
  public static class StartCancelExpire {
    private final Rig rig = new Rig();
    private final WheelTimeout old = rig.start(5);

    public StartCancelExpire() {
      rig.nowNanos = 5;
    }

    @Actor
    public void start() {
      rig.start(100);
    }

    @Actor
    public void cancel() {
      Rig.cancel(old);
    }

    @Actor
    public void expire() {
      rig.runDue();
    }

    @Arbiter
    public void end(III_Result r) {
      TimerStats stats = rig.engine.stats();
      r.r1 = rig.broken ? Rig.BROKEN : (int) stats.pending();
      r.r2 = (int) stats.started();
      r.r3 = (int) (10 * stats.expired() + stats.cancelled());
    }
  }
}
