// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.timewheel.pattern.PatternStress.Due;
import io.timewheel.pattern.PatternStress.Rig;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.Ref;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Tests an entry of a pattern that is re-armed, begun or ended while another thread ends or hastens
 * it: the comments of {@link TimedEntry}, {@link Sweep} and {@link Lease}.
 */
public final class KeyedStress {
  private static final Duration TICK = Duration.ofNanos(1);

  private KeyedStress() {}

  /** The re-arming of a touched entry, against removeAll. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 0"},
      expect = ACCEPTABLE,
      desc = "Removed, although it was touched, and no longer in the timer.")
  @Outcome(expect = FORBIDDEN, desc = "Expired, or something left in the timer.")
  @State
  @Ref("promise-Expirations")
  public static class TouchedExpireRemoveAll extends Due {
    @Actor
    public void expire() {
      expirations.touch(1);
      poll();
    }

    @Actor
    public void removeAll(III_Result r) {
      r.r1 = expirations.removeAll().size();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = pending();
      nowNanos = 100;
      poll();
      r.r2 = expired.get();
    }
  }

  /** A key is cancelled while its last attempt fails. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 0", "0, 1, 0"},
      expect = ACCEPTABLE,
      desc = "Cancelled or exhausted.")
  @Outcome(expect = FORBIDDEN, desc = "Both, neither, or something left.")
  @State
  @Ref("promise-Retries")
  public static class CancelExhaust extends Rig {
    private final AtomicInteger exhausted = new AtomicInteger();
    private final Retries<Integer> retries =
        Retries.<Integer>builder(
                timer,
                Runnable::run,
                (key, attempt) -> {
                  throw new IllegalStateException();
                })
            .backoff(Backoff.fixed(TICK))
            .maxAttempts(1)
            .onExhausted((key, error) -> exhausted.incrementAndGet())
            .build();

    public CancelExhaust() {
      retries.add(1);
      nowNanos = 10;
    }

    @Actor
    public void cancel(III_Result r) {
      r.r1 = asInt(retries.cancel(1));
    }

    @Actor
    public void exhaust() {
      timer.poll();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r2 = exhausted.get();
      r.r3 = pending() + (int) retries.size();
    }
  }

  /** A connection is closed while it is re-armed. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Watched no longer.")
  @Outcome(expect = FORBIDDEN, desc = "Something is left in the timer.")
  @State
  @Ref("promise-Heartbeats")
  public static class CloseBeat extends Rig {
    private final Heartbeats.Connection<Integer> connection;
    private final Heartbeats<Integer> heartbeats =
        Heartbeats.<Integer>builder(timer, Runnable::run).onReadIdle(TICK, idle -> {}).build();

    public CloseBeat() {
      connection = heartbeats.add(1);
      nowNanos = 10;
    }

    @Actor
    public void close() {
      connection.close();
    }

    @Actor
    public void beat() {
      timer.poll();
    }

    @Arbiter
    public void end(II_Result r) {
      r.r1 = pending();
      r.r2 = (int) heartbeats.size();
    }
  }

  /** Leases of 120 ns, so there is a sweep every 10 ns. */
  abstract static class Leased extends Rig {
    final AtomicInteger lost = new AtomicInteger();
    final AtomicInteger renewals = new AtomicInteger();
    final Leases<Integer> leases =
        Leases.<Integer>builder(
                timer,
                Runnable::run,
                Duration.ofNanos(120),
                keys -> {
                  renewals.incrementAndGet();
                  return keys;
                })
            .onLost((key, how) -> lost.incrementAndGet())
            .build();
  }

  /** A lease is released while it is found to have expired. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 0", "0, 1, 0"},
      expect = ACCEPTABLE,
      desc = "Released or lost.")
  @Outcome(expect = FORBIDDEN, desc = "Both, neither, or something left.")
  @State
  @Ref("promise-Leases")
  public static class ReleaseLose extends Leased {
    public ReleaseLose() {
      leases.hold(1);
      nowNanos = 130; // after its expiry
    }

    @Actor
    public void release(III_Result r) {
      r.r1 = asInt(leases.release(1));
    }

    @Actor
    public void lose() {
      timer.poll();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r2 = lost.get();
      r.r3 = (int) leases.size();
    }
  }

  /** A lease is held again while its last hold is released. */
  @JCStressTest
  @Outcome(
      id = {"1, 1, 1", "2, 0, 1"},
      expect = ACCEPTABLE,
      desc = "A new lease, or one more hold of the same.")
  @Outcome(expect = FORBIDDEN, desc = "A hold of a lease that has ended.")
  @State
  @Ref("promise-Leases")
  public static class ReleaseHold extends Leased {
    public ReleaseHold() {
      leases.hold(1);
    }

    @Actor
    public void hold(III_Result r) {
      r.r1 = leases.hold(1);
    }

    @Actor
    public void release(III_Result r) {
      r.r2 = asInt(leases.release(1));
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = leases.holds(1);
    }
  }

  /** A lease is held while the sweep finds nothing to do and parks. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Renewed in time, by the one timeout.")
  @Outcome(expect = FORBIDDEN, desc = "Held, and nothing renews it; or two sweeps.")
  @State
  @Ref("promise-Leases")
  public static class HoldSweep extends Leased {
    public HoldSweep() {
      leases.hold(1);
      leases.release(1); // the next sweep has not run yet
      nowNanos = 10;
    }

    @Actor
    public void hold() {
      leases.hold(2);
    }

    @Actor
    public void sweep() {
      timer.poll();
    }

    @Arbiter
    public void end(II_Result r) {
      nowNanos = 50;
      timer.poll();
      r.r1 = renewals.get();
      r.r2 = pending();
    }
  }

  /** A value gets a shorter timeout while it is re-armed for a longer one. */
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "Expired when the shorter one was over.")
  @Outcome(expect = FORBIDDEN, desc = "Still waiting for the longer one.")
  @State
  @Ref("promise-Expirations")
  public static class TouchShorterExpire extends Due {
    public TouchShorterExpire() {
      expirations.touch(1, Duration.ofNanos(1_000));
    }

    @Actor
    public void expire() {
      poll();
    }

    @Actor
    public void touch() {
      expirations.touch(1, Duration.ofNanos(20));
    }

    @Arbiter
    public void end(II_Result r) {
      nowNanos = 100;
      poll();
      r.r1 = expired.get();
      r.r2 = pending();
    }
  }
}
