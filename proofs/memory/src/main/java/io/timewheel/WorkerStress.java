// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Tests the loop of {@link Worker}, steps 1 to 5, with a thread that parks and is unparked. This
 * covers the steps W1 to W5 and P1 to P5 of {@link WakeUp}, including the permit: "if W5 has not
 * parked yet, the permit of unpark makes it return at once".
 *
 * <p>If a park lasts several seconds, no thread has unparked the timer thread, and the test has
 * failed. Later parks are then shorter, so that the test ends soon.
 */
public final class WorkerStress {
  /**
   * The duration after which a park counts as lost. Load does not delay an unpark for this long.
   */
  private static volatile long lostNanos = TimeUnit.SECONDS.toNanos(4);

  /** A strong reference, because the logging API holds loggers weakly. */
  private static final Logger CORE_LOGGER = Logger.getLogger("io.timewheel");

  static {
    CORE_LOGGER.setLevel(Level.OFF); // in one test, a timer thread dies in every sample
  }

  private WorkerStress() {}

  /** A timer thread whose parking a test can observe. */
  abstract static class Watched extends Rig {
    final Worker worker = new Worker(engine, Thread::new);
    private boolean ended;

    Watched(int stripes) {
      super(stripes, settings -> {});
    }

    /** Runs the {@code Worker} on the current thread until it ends. */
    void work() {
      takePermit();
      worker.run();
    }

    /**
     * Stops the worker from inside its own park. If the thread parks again, throws an error to end
     * it.
     */
    void end() {
      if (ended) {
        throw new AssertionError("does not stop");
      }
      ended = true;
      worker.stop(Duration.ZERO);
    }

    /**
     * Uses up the permit that an earlier sample left on this thread: an interrupted thread does not
     * wait.
     */
    private static void takePermit() {
      Thread.currentThread().interrupt();
      LockSupport.park(Watched.class);
      Thread.interrupted();
    }

    /** Parks without a deadline. Returns false if no thread ended the park. */
    static boolean parkIsEnded() {
      long limitNanos = lostNanos;
      long begunNanos = System.nanoTime();
      LockSupport.parkNanos(Watched.class, limitNanos);
      boolean lost = System.nanoTime() - begunNanos >= limitNanos / 2;
      if (lost) {
        lostNanos = TimeUnit.MILLISECONDS.toNanos(5);
      }
      return !lost;
    }

    static void await(BooleanSupplier condition) {
      while (!condition.getAsBoolean()) {
        Thread.onSpinWait();
      }
    }
  }

  /** Timeouts due at 3 and 5 are started while a timer thread is about to sleep until 100. */
  @Outcome(id = "3", expect = ACCEPTABLE, desc = "Finally sleeps until the earliest deadline.")
  @Outcome(expect = FORBIDDEN, desc = "Lost wake-up: sleeps past a deadline.")
  abstract static class Sleepy extends Watched {
    private final int producers;
    private final AtomicInteger done = new AtomicInteger();
    int sleptFor;

    Sleepy(int stripes, int producers) {
      super(stripes);
      this.producers = producers;
      start(100);
    }

    void produce(long delayNanos) {
      start(delayNanos);
      produced();
    }

    void produced() {
      done.incrementAndGet();
    }

    @Override
    public void parkUntil(long deadlineNanos, Object blocker) {
      if (deadlineNanos == 3) {
        sleptFor = 3; // this is the earliest deadline, so no wake-up can be lost from here on
        end();
        return;
      }
      // After all producers are done, none can still wake it.
      await(() -> done.get() == producers);
      if (!parkIsEnded()) {
        sleptFor = (int) deadlineNanos;
        end();
      }
    }
  }

  /** One producer. */
  @JCStressTest
  @State
  public static class Start extends Sleepy {
    public Start() {
      super(1, 1);
    }

    @Actor
    public void worker(I_Result r) {
      work();
      r.r1 = sleptFor;
    }

    @Actor
    public void producer() {
      produce(3);
    }
  }

  /** Two producers with different deadlines, on one stripe or on two. */
  @JCStressTest
  @State
  public static class StartStart extends Sleepy {
    public StartStart() {
      super(2, 2);
    }

    @Actor
    public void worker(I_Result r) {
      work();
      r.r1 = sleptFor;
    }

    @Actor
    public void early() {
      produce(3);
    }

    @Actor
    public void late() {
      produce(5);
    }
  }

  /**
   * The timer thread must wait for the lock of its second stripe. Its sleep there uses up the
   * unpark for a timeout on the first stripe, which it has already checked: "The permit alone is
   * not sufficient", as the comment of {@link WakeUp} explains, and W5 checks whether the plan was
   * withdrawn.
   */
  @JCStressTest
  @State
  public static class StartBehindANap extends Sleepy {
    private static final VarHandle STRIPES = field(Engine.class, "stripes", Stripe[].class);

    private final Stripe[] stripes = (Stripe[]) STRIPES.get(engine);

    public StartBehindANap() {
      super(2, 1);
    }

    @Actor
    public void worker(I_Result r) {
      work();
      r.r1 = sleptFor;
    }

    /** Keeps the lock of the second stripe busy past W1, and executes P1 to P5 on the first. */
    @Actor
    public void producer() {
      for (int planSeen = 0; planSeen < 20; ) {
        stripes[1].pending();
        planSeen += asInt(!engine.wakeUp.isWithdrawn());
      }
      stripes[0].add(new WheelTimeout(task, stripes[0], 3), 3, 0);
      engine.wakeUp.dueAt(3, engine);
      produced();
    }
  }

  /**
   * The timer is stopped while its thread is about to sleep forever. Step 4 reads {@code stopping}
   * after it publishes the plan, and {@link WakeUp#wake} unparks the thread for any plan.
   */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "The timer thread ended, and stop saw it.")
  @Outcome(
      expect = FORBIDDEN,
      desc = "The timer thread sleeps forever, or stop did not wait for it.")
  @State
  public static class Stop extends Watched {
    private boolean lost;

    public Stop() {
      super(1);
    }

    @Override
    public void parkUntil(long deadlineNanos, Object blocker) {
      if (!parkIsEnded()) {
        lost = true;
        end();
      }
    }

    @Actor
    public void worker(II_Result r) {
      work();
      r.r1 = asInt(lost);
    }

    @Actor
    public void stopper(II_Result r) {
      worker.stop(Duration.ofSeconds(60));
      r.r2 = 1;
    }
  }

  /**
   * The timer thread dies while another thread starts a timeout: it "fails the engine, which
   * accepts no further timeouts".
   */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Refused.")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Accepted while it lived; stop returns it.")
  @Outcome(expect = FORBIDDEN, desc = "Lost, or accepted after the death.")
  @State
  public static class Death extends Watched {
    public Death() {
      super(1);
    }

    @Override
    public void parkUntil(long deadlineNanos, Object blocker) {
      throw new OutOfMemoryError("for the test");
    }

    @Actor
    public void worker() {
      work();
    }

    @Actor
    public void producer(II_Result r) {
      r.r1 = tryStart(5);
    }

    @Arbiter
    public void end(II_Result r) {
      r.r2 = 10 * tryStart(5) + stop();
    }
  }
}
