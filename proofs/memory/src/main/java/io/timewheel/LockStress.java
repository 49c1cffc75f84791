// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Tests {@link StripeLock} alone: "one compare-and-set takes it, and one release write frees it".
 * The lock excludes other threads, and makes plain fields visible.
 */
public final class LockStress {
  private LockStress() {}

  /** A lock, and two plain fields that it guards. */
  abstract static class Guarded {
    private final Stripe stripe = new Rig().start(1).stripe;
    int first;
    int second;

    void lock() {
      stripe.lock(StripeLock.OTHERS);
    }

    void unlock() {
      stripe.unlock();
    }

    /** Repeats the increment, so that a thread that waited for the lock also finds it free. */
    void increment() {
      for (int i = 0; i < 50; i++) {
        lock();
        first++;
        unlock();
      }
    }
  }

  /** Increments that are not atomic. */
  @JCStressTest
  @Outcome(id = "100", expect = ACCEPTABLE, desc = "None is lost.")
  @Outcome(expect = FORBIDDEN, desc = "Two threads were inside at once.")
  @State
  public static class Exclusion extends Guarded {
    @Actor
    public void one() {
      increment();
    }

    @Actor
    public void other() {
      increment();
    }

    @Arbiter
    public void end(I_Result r) {
      r.r1 = first;
    }
  }

  /** The same with three threads, so that on two processors one of them may be suspended inside. */
  @JCStressTest
  @Outcome(id = "150", expect = ACCEPTABLE, desc = "None is lost.")
  @Outcome(expect = FORBIDDEN, desc = "Two threads were inside at once.")
  @State
  public static class ExclusionOfThree extends Guarded {
    @Actor
    public void one() {
      increment();
    }

    @Actor
    public void two() {
      increment();
    }

    @Actor
    public void three() {
      increment();
    }

    @Arbiter
    public void end(I_Result r) {
      r.r1 = first;
    }
  }

  /** Two fields that one thread writes under the lock, and another thread reads under it. */
  @JCStressTest
  @Outcome(
      id = {"0, 0", "1, 1"},
      expect = ACCEPTABLE,
      desc = "All or nothing.")
  @Outcome(expect = FORBIDDEN, desc = "Half of the writes under the lock.")
  @State
  public static class Visibility extends Guarded {
    @Actor
    public void write() {
      lock();
      first = 1;
      second = 1;
      unlock();
    }

    @Actor
    public void read(II_Result r) {
      lock();
      r.r1 = first;
      r.r2 = second;
      unlock();
    }
  }
}
