// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.timewheel.PolledTimer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.Ref;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Tests which thread decides about an entry of a pattern: the comment of {@link Expirations},
 * "Every added value has exactly one of two outcomes", and its counterparts. Each test ends with
 * nothing pending in the timer.
 */
public final class PatternStress {
  private static final Duration TICK = Duration.ofNanos(1);

  private PatternStress() {}

  /** A timer on a clock that a test sets, with a tick of 1 ns. */
  abstract static class Rig {
    /** Volatile, so that the actors read the value that the constructor has set. */
    volatile long nowNanos;

    final PolledTimer timer = PolledTimer.builder().tick(TICK).timeSource(() -> nowNanos).build();

    int pending() {
      return (int) timer.pendingTimeouts();
    }

    static int asInt(boolean flag) {
      return flag ? 1 : 0;
    }
  }

  /** A value that is due. */
  abstract static class Due extends Rig {
    final AtomicInteger expired = new AtomicInteger();
    final Expirations<Integer, Integer> expirations =
        Expirations.builder(timer, (Integer key, Integer value) -> expired.incrementAndGet())
            .executor(Runnable::run)
            .build();

    Due() {
      expirations.add(1, 1, TICK);
      nowNanos = 10;
    }

    int complete() {
      return asInt(expirations.complete(1) != null);
    }

    /** Advances the clock, so a touched entry becomes due too, and polls. */
    void poll() {
      timer.poll();
    }
  }

  /** Complete against expire against touch. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 0"},
      expect = ACCEPTABLE,
      desc = "Completed.")
  @Outcome(
      id = {"0, 1, 0"},
      expect = ACCEPTABLE,
      desc = "Expired.")
  @Outcome(expect = FORBIDDEN, desc = "Both, neither, or something left in the timer.")
  @State
  @Ref("promise-Expirations")
  public static class CompleteExpireTouch extends Due {
    @Actor
    public void complete(III_Result r) {
      r.r1 = complete();
    }

    @Actor
    public void expire() {
      poll();
    }

    @Actor
    public void touch() {
      expirations.touch(1);
    }

    @Arbiter
    public void end(III_Result r) {
      nowNanos = 100;
      poll();
      r.r2 = expired.get();
      r.r3 = pending();
    }
  }

  /** Complete against the sweep of removeAll against expire. */
  @JCStressTest
  @Outcome(
      id = {"1, 0, 0, 0", "0, 1, 0, 0", "0, 0, 1, 0"},
      expect = ACCEPTABLE,
      desc = "Exactly one thread took it.")
  @Outcome(expect = FORBIDDEN, desc = "More than one thread, or none, or something left.")
  @State
  @Ref("promise-Expirations")
  public static class CompleteRemoveAllExpire extends Due {
    @Actor
    public void complete(IIII_Result r) {
      r.r1 = complete();
    }

    @Actor
    public void removeAll(IIII_Result r) {
      r.r2 = expirations.removeAll().size();
    }

    @Actor
    public void expire() {
      poll();
    }

    @Arbiter
    public void end(IIII_Result r) {
      nowNanos = 100;
      poll();
      r.r3 = expired.get();
      r.r4 = pending();
    }
  }

  /** The start of a request against its answer: the comment of {@link TimedEntry}, on settling. */
  @JCStressTest
  @Outcome(
      id = {"1, 0", "0, 1"},
      expect = ACCEPTABLE,
      desc = "Answered, and nothing left; or not there yet, and pending.")
  @Outcome(expect = FORBIDDEN, desc = "Answered, but its timeout is left; or it has none.")
  @State
  @Ref("promise-Requests")
  public static class StartAnswer extends Rig {
    private final Requests.Channel<Integer> channel =
        Requests.<Integer>builder(timer).executor(Runnable::run).build().channel();

    @Actor
    public void start() {
      CompletableFuture<Integer> ignored = channel.start(1, Duration.ofDays(1));
    }

    @Actor
    public void answer(II_Result r) {
      r.r1 = asInt(channel.complete(1, 1));
    }

    @Arbiter
    public void end(II_Result r) {
      r.r2 = pending();
    }
  }

  /** Adding against stopping: no entry remains after the sweep. */
  @JCStressTest
  @Outcome(
      id = {"1, 1, 0", "0, 0, 0"},
      expect = ACCEPTABLE,
      desc = "Added and removed by stop, or refused.")
  @Outcome(expect = FORBIDDEN, desc = "Neither, or both, or left behind.")
  @State
  public static class AddStop extends Rig {
    private final Expirations<Integer, Integer> expirations =
        Expirations.builder(timer, (Integer key, Integer value) -> {})
            .executor(Runnable::run)
            .build();

    @Actor
    public void add(III_Result r) {
      try {
        r.r1 = asInt(expirations.add(1, 1, Duration.ofDays(1)));
      } catch (IllegalStateException e) {
        r.r1 = 0;
      }
    }

    @Actor
    public void stop(III_Result r) {
      r.r2 = expirations.stop().size();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = pending() + (int) expirations.size();
    }
  }

  /** An answer against the timeout against the close of the channel. */
  @JCStressTest
  @Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "Answered in time.")
  @Outcome(
      id = {"0, 1, 0"},
      expect = ACCEPTABLE,
      desc = "Timed out or closed, and the answer was late.")
  @Outcome(expect = FORBIDDEN, desc = "The answer was lost, or something is left.")
  @State
  @Ref("promise-Requests")
  public static class AnswerTimeOutClose extends Rig {
    private final AtomicInteger late = new AtomicInteger();
    private final Requests.Channel<Integer> channel =
        Requests.<Integer>builder(timer)
            .executor(Runnable::run)
            .onLate((where, id, answer) -> late.incrementAndGet())
            .build()
            .channel();
    private final CompletableFuture<Integer> answer = channel.start(1, TICK);

    public AnswerTimeOutClose() {
      nowNanos = 10;
    }

    @Actor
    public void answer() {
      channel.complete(1, 1);
    }

    @Actor
    public void timeOut() {
      timer.poll();
    }

    @Actor
    public void close() {
      channel.close(new IllegalStateException("closed"));
    }

    @Arbiter
    public void end(III_Result r) {
      r.r1 = asInt(answer.isDone() && !answer.isCompletedExceptionally());
      r.r2 = late.get();
      r.r3 = pending() + channel.size();
    }
  }

  /** Release against renew: no renewal is in progress when the unlock runs, and it runs once. */
  @JCStressTest
  @Outcome(
      id = {"0, 1, 1", "0, 1, 0"},
      expect = ACCEPTABLE,
      desc = "Renewed before the unlock, or not at all.")
  @Outcome(expect = FORBIDDEN, desc = "Renewed after the unlock, or not unlocked once.")
  @State
  @Ref("promise-Leases")
  public static class ReleaseRenew extends Rig {
    private final AtomicInteger unlocked = new AtomicInteger();
    private final AtomicInteger renewedLate = new AtomicInteger();
    private final AtomicInteger renewals = new AtomicInteger();
    private final Leases<Integer> leases =
        Leases.<Integer>builder(timer, Runnable::run, Duration.ofNanos(120), this::renew).build();

    public ReleaseRenew() {
      leases.hold(1);
      nowNanos = 40;
    }

    private List<Integer> renew(List<Integer> keys) {
      renewals.incrementAndGet();
      renewedLate.addAndGet(unlocked.get());
      return keys;
    }

    @Actor
    public void release() {
      CompletableFuture<Boolean> ignored = leases.release(1, unlocked::incrementAndGet);
    }

    @Actor
    public void renew() {
      timer.poll();
    }

    @Arbiter
    public void end(III_Result r) {
      nowNanos = 80;
      timer.poll();
      r.r1 = renewedLate.get();
      r.r2 = unlocked.get();
      r.r3 = renewals.get();
    }
  }
}
