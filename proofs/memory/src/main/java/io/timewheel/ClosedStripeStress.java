// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.time.Duration;
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
 * Tests the end of a timer, "Shutdown" in the comment of {@link Engine}: "A timeout added before
 * the close is drained, unless it was already polled; then it runs. A later timeout is refused."
 * There is no fourth outcome.
 */
public final class ClosedStripeStress {
  private ClosedStripeStress() {}

  /** Stop against newTimeout. */
  @JCStressTest
  @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "Refused.")
  @Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "Accepted and returned.")
  @Outcome(expect = FORBIDDEN, desc = "Accepted and lost, or refused and kept.")
  @State
  public static class StopNewTimeout {
    private final Rig rig = new Rig();

    @Actor
    public void stop(III_Result r) {
      r.r1 = rig.stop();
    }

    @Actor
    public void start(III_Result r) {
      r.r2 = rig.tryStart(1);
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = (int) rig.engine.pendingTimeouts();
    }
  }

  /** Stop against newTimeout on two threads, with one stripe or two. */
  @JCStressTest
  @Outcome(id = "0, 0, 0, 0", expect = ACCEPTABLE, desc = "Both refused.")
  @Outcome(
      id = {"1, 1, 0, 0", "1, 0, 1, 0"},
      expect = ACCEPTABLE,
      desc = "One refused, one returned.")
  @Outcome(id = "2, 1, 1, 0", expect = ACCEPTABLE, desc = "Both returned.")
  @Outcome(expect = FORBIDDEN, desc = "Accepted and lost, or refused and kept.")
  @State
  public static class StopNewTimeoutNewTimeout {
    private final Rig rig = new Rig(2, settings -> {});

    @Actor
    public void stop(IIII_Result r) {
      r.r1 = rig.stop();
    }

    @Actor
    public void one(IIII_Result r) {
      r.r2 = rig.tryStart(1);
    }

    @Actor
    public void other(IIII_Result r) {
      r.r3 = rig.tryStart(1);
    }

    @Arbiter
    public void end(IIII_Result r) {
      r.r4 = (int) rig.engine.pendingTimeouts();
    }
  }

  /** Stop against newTimeout against expire. */
  @JCStressTest
  @Outcome(id = "0, 0, 0, 0", expect = ACCEPTABLE, desc = "Refused.")
  @Outcome(id = "1, 1, 0, 1", expect = ACCEPTABLE, desc = "Accepted and returned.")
  @Outcome(id = "0, 1, 1, 10", expect = ACCEPTABLE, desc = "Accepted, and ran.")
  @Outcome(expect = FORBIDDEN, desc = "A fourth outcome.")
  @State
  public static class StopNewTimeoutExpire {
    private final Rig rig = new Rig();

    @Actor
    public void stop(IIII_Result r) {
      r.r1 = rig.stop();
    }

    @Actor
    public void start(IIII_Result r) {
      r.r2 = rig.tryStart(1);
    }

    @Actor
    public void expire(IIII_Result r) {
      r.r3 = rig.runDueAt(10);
    }

    @Arbiter
    public void end(IIII_Result r) {
      r.r4 = rig.calls();
    }
  }

  /** Stop against newTimeout at a limit that is not reached: the permit must be returned. */
  @JCStressTest
  @Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "Refused as stopped; the permit is back.")
  @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "Accepted and returned, as is the permit.")
  @Outcome(expect = FORBIDDEN, desc = "Lost or kept, or the permit is.")
  @State
  public static class StopNewTimeoutLimited {
    private final Rig rig = new Rig(1, settings -> settings.maxPendingTimeouts(1));

    @Actor
    public void stop(III_Result r) {
      r.r1 = rig.stop();
    }

    @Actor
    public void start(III_Result r) {
      r.r2 = rig.tryStart(1);
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = LimitStress.left(rig);
    }
  }

  /**
   * Stop against stop, on a whole timer: one call returns the cancelled timeouts, the other returns
   * none.
   */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 1", "0, 1, 1"},
      expect = ACCEPTABLE,
      desc = "Returned to one caller.")
  @Outcome(expect = FORBIDDEN, desc = "Returned to both or to none, or two callbacks.")
  @State
  public static class StopStop {
    private final Rig.Task task = new Rig.Task();
    private final PolledTimer timer = PolledTimer.builder().timeSource(() -> 0).build();

    public StopStop() {
      timer.newTimeout(task, Duration.ofNanos(1));
    }

    private int stop() {
      return Rig.orBroken(() -> timer.stop().size());
    }

    @Actor
    public void one(III_Result r) {
      r.r1 = stop();
    }

    @Actor
    public void other(III_Result r) {
      r.r2 = stop();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = task.calls();
    }
  }

  /**
   * The timer thread dies while another thread starts a timeout. The comment of {@link Worker}
   * states: "it fails the engine, which accepts no further timeouts". Stop returns the timeouts
   * accepted before.
   */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Refused.")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Accepted just before; stop returns it.")
  @Outcome(expect = FORBIDDEN, desc = "Lost, or accepted after the death.")
  @State
  public static class FailNewTimeout {
    private final Throwable cause = new OutOfMemoryError("for the test");
    private final Rig rig = new Rig();

    @Actor
    public void fail() {
      rig.engine.fail(cause);
    }

    @Actor
    public void start(II_Result r) {
      r.r1 = rig.tryStart(1);
    }

    @Arbiter
    public void end(II_Result r) {
      r.r2 = 10 * rig.tryStart(1) + rig.stop();
    }
  }

  /**
   * The same, with the cause: {@link Engine#fail} writes it before it closes the stripes, so a
   * refused thread sees the cause.
   */
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "Accepted.")
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "Refused, with the cause.")
  @Outcome(expect = FORBIDDEN, desc = "Refused as if stopped.")
  @State
  public static class FailReportsCause {
    private final Throwable cause = new OutOfMemoryError("for the test");
    private final Rig rig = new Rig();

    @Actor
    public void fail() {
      rig.engine.fail(cause);
    }

    @Actor
    public void start(I_Result r) {
      try {
        rig.start(1);
      } catch (IllegalStateException e) {
        r.r1 = e.getCause() == cause ? 1 : -1;
      }
    }
  }
}
