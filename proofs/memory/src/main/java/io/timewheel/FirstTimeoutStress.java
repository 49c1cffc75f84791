// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Tests that the first timeout of a timer starts its thread, once, and "before the first timeout is
 * added: the timer accepts no timeout that no thread would run" ({@link WheelTimer#newTimeout}).
 */
public final class FirstTimeoutStress {
  private FirstTimeoutStress() {}

  /**
   * A timer whose thread only records that it was started. Starting a real thread would take most
   * of the time.
   */
  abstract static class Fresh {
    final AtomicInteger starts = new AtomicInteger();
    final Rig.Task task = new Rig.Task();
    final HashedWheelTimer timer =
        HashedWheelTimer.builder()
            .ticksPerWheel(1)
            .stripes(1)
            .timeSource(() -> 0)
            .threadFactory(worker -> new IdleThread(worker, starts))
            .build();

    int tryStart() {
      try {
        timer.newTimeout(task, Duration.ofNanos(1));
        return 1;
      } catch (IllegalStateException e) {
        return 0;
      }
    }
  }

  /** Two first timeouts at once. */
  @JCStressTest
  @Outcome(id = "1, 1, 12", expect = ACCEPTABLE, desc = "Both accepted, one thread started.")
  @Outcome(expect = FORBIDDEN, desc = "No thread, two, or a refusal.")
  @State
  public static class NewTimeoutNewTimeout extends Fresh {
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
      r.r3 = 10 * starts.get() + (int) timer.pendingTimeouts();
    }
  }

  /** The first timeout while the timer is stopped. */
  @JCStressTest
  @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "Refused, and no thread was started.")
  @Outcome(id = "0, 0, 10", expect = ACCEPTABLE, desc = "Refused, after the thread was started.")
  @Outcome(
      id = {"1, 1, 10", "1, 1, 0"},
      expect = ACCEPTABLE,
      desc = "Accepted and returned, by a stop before or after the start of the thread.")
  @Outcome(expect = FORBIDDEN, desc = "Accepted and lost.")
  @State
  public static class NewTimeoutStop extends Fresh {
    @Actor
    public void start(III_Result r) {
      r.r1 = tryStart();
    }

    @Actor
    public void stop(III_Result r) {
      r.r2 = Rig.orBroken(() -> timer.stop(Duration.ZERO).size());
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = 10 * starts.get() + (int) timer.pendingTimeouts();
    }
  }
}
